"""Exceptions and the warning of the package."""


class Error(Exception):
    """Base class of all exceptions of Pliant."""


class InputError(Error, ValueError):
    """Bad input: a name, a number, a shape, or a file with errors. The command line ends with exit code 2 for it."""


class FileError(InputError, OSError):
    """A file that cannot be read or written."""


class SimulationError(Error, RuntimeError):
    """The input was good and the job failed: no equilibrium, a step that would leave a gap in a joint. Exit code 1 of the command line."""


class InternalError(Error, RuntimeError):
    """An internal error of Pliant. Please report it."""


class PliantWarning(UserWarning):
    """What an engine or importer left out or changed, with a measure."""
