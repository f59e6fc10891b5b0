//! What stands below the options in the help of each command: units, and examples to start from.

macro_rules! text {
    ($command:literal) => {
        include_str!(concat!("help/", $command, ".txt")).trim_ascii_end()
    };
}

pub const EXAMPLES: &str = text!("program");
pub const LIST_EXAMPLES: &str = text!("list");
pub const INFO_EXAMPLES: &str = text!("info");
pub const EXPORT_EXAMPLES: &str = text!("export");
pub const COMPLIANCE_EXAMPLES: &str = text!("compliance");
pub const STATICS_EXAMPLES: &str = text!("statics");
pub const SIMULATE_EXAMPLES: &str = text!("simulate");
pub const REDUCE_EXAMPLES: &str = text!("reduce");
pub const COMPARE_EXAMPLES: &str = text!("compare");
pub const VIEW_EXAMPLES: &str = text!("view");
pub const BENCH_EXAMPLES: &str = text!("bench");
pub const PAPER_EXAMPLES: &str = text!("paper");
pub const COMPLETIONS_EXAMPLES: &str = text!("completions");
