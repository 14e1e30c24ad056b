//! Where settings are listed: the example configuration, the help, and the pages about limits. Each
//! is held to the table.

use super::tests::{file, options};
use super::*;

/// The text of a file of the repository, which is to be this one.
fn golden(name: &str, expected: impl Fn(&str) -> String) {
    let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).unwrap();
    let expected = expected(&text);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, expected).unwrap();
    } else {
        assert_eq!(text, expected, "{name}: UPDATE_GOLDEN=1 writes it anew");
    }
}

/// The example configuration, from the tables.
fn example() -> String {
    let mut text = EXAMPLE_HEAD.to_owned();
    let defaults = plain_values(&Settings::default());
    for ((name, _, help), default) in PLAIN.iter().zip(defaults) {
        let help = help.split(" [default").next().unwrap();
        text += &format!("\n# {help}.\n#= {name} = {default}\n");
    }
    text += "\n[limits]\n";
    for usual in [true, false] {
        if !usual {
            text += &format!("\n# {OTHERS_HEADING}:\n");
        }
        for limit in Limits::listed(usual) {
            let (description, unit) = (limit.description.trim(), limit.unit);
            let (name, value) = (limit.name, limit.value);
            let breach = limit.breach.name();
            text += &format!("\n# {description} ({unit}; beyond it: {breach})\n");
            text += &format!("#= {name} = {value}\n");
        }
    }
    text
}

const EXAMPLE_HEAD: &str = "\
# Every setting of `clearance serve` with its default. A line that begins with \"#=\" is a setting
# that is commented out: take \"#= \" away to set it. Use:
# `clearance serve --config clearance.toml`.
#
# A flag is stronger than the environment, the environment than this file: `listen` here is
# CLEARANCE_LISTEN there and --listen on the command line; limits likewise, without \"limits\".
# A limit whose breach is OK is a value that is cut to it.
";

#[test]
fn the_example_configuration_states_every_setting_and_its_default() {
    golden("deploy/clearance.toml", |_| example());
    let path = file("example.toml", &example().replace("#= ", ""));
    let read = options(&["--config", &path]).settings([]).unwrap();
    assert_eq!(read, Settings::default());
}

/// Rows of limits, as a page shows them.
fn rows(usual: bool) -> String {
    let mut text = "| limit | default | unit | beyond it | what it limits |\n".to_owned();
    text += "|---|---|---|---|---|\n";
    for limit in Limits::listed(usual) {
        let (name, value, unit, breach) =
            (limit.name, limit.value, limit.unit, limit.breach.name());
        // Comments of the table break lines where code does.
        let description = limit.description.trim();
        text += &format!("| `{name}` | {value} | {unit} | {breach} | {description} |\n");
    }
    text
}

/// A page, with what stands between two lines of it made anew.
fn between(page: &str, name: &str, made: &str) -> String {
    let (begin, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->\n"));
    let (before, rest) = page.split_once(&begin).expect("the page has the place");
    let (_, after) = rest.split_once(&end).expect("the place ends");
    format!("{before}{begin}{made}{end}{after}")
}

#[test]
fn the_page_about_limits_lists_every_limit_and_its_default() {
    golden("docs/limits.md", |page| {
        let page = between(page, "limits that are usually set", &rows(true));
        between(&page, "all other limits", &rows(false))
    });
}

/// Seventy limits stood before the few that somebody looks for.
#[test]
fn the_short_help_has_the_few_limits_that_are_usually_set_and_the_long_one_all() {
    let mut command = ServeOptions::augment_args(Command::new("serve"));
    let [short, long] = [command.render_help().to_string(), command.render_long_help().to_string()];
    let flag = |limit: &Limit| format!("--{} <NUMBER>", limit.name.replace('_', "-"));
    for limit in Limits::listed(true) {
        assert!(short.contains(&flag(limit)), "{}", limit.name);
    }
    let (usual, others) = long.split_once(OTHERS_HEADING).unwrap();
    for limit in Limits::listed(false) {
        assert!(!short.contains(&flag(limit)) && !usual.contains(&flag(limit)), "{}", limit.name);
        assert!(others.contains(&flag(limit)), "{}", limit.name);
    }
}
