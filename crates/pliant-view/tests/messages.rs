//! Claim: a message is read as it was written, and nothing else is taken for one.

use pliant_view::Command;

#[test]
fn commands_are_read_as_they_were_written() {
    let commands = [
        Command::Hello {},
        Command::Grab { body: 7, x: 0.1, y: -2.0, z: 1e-9, stiffness: 250.0 },
        Command::Target { joint: 3, freedom: 1, value: -0.5 },
        Command::Engine { engine: 4 },
        Command::Drawn { frame: u32::MAX },
    ];
    for command in commands {
        let bytes = command.write();
        assert_eq!(Command::read(&bytes), Some(command));
        // One byte more or less is no message.
        assert_eq!(Command::read(&[&bytes[..], &[0]].concat()), None);
        assert_eq!(Command::read(&bytes[..bytes.len() - 1]), None);
    }
    assert_eq!(
        Command::Grab { body: 1, x: 0.0, y: 0.0, z: 0.0, stiffness: 1.0 }.write().len(),
        1 + 4 + 4 * 8
    );
}

#[test]
fn numbers_that_are_not_finite_are_no_message() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(Command::read(&Command::Pull { x: 0.0, y: bad, z: 0.0 }.write()), None);
        assert_eq!(Command::read(&Command::TimeStep { dt: bad }.write()), None);
    }
    assert_eq!(Command::read(&[]), None);
    assert_eq!(Command::read(&[200]), None);
}
