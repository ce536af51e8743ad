//! Tells the crate which git commit it is built from.

use std::path::Path;
use std::process::Command;

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// The commit of this very repository: sources unpacked inside somebody else's must not take that one's.
fn commit() -> Option<String> {
    let top = git(&["rev-parse", "--show-toplevel"])?;
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    if workspace.canonicalize().ok()? != Path::new(&top).canonicalize().ok()? {
        return None;
    }
    let head = git(&["rev-parse", "--short=12", "HEAD"])?;
    let is_clean = git(&[
        "--no-optional-locks",
        "status",
        "--porcelain",
        "--untracked-files=no",
        "--",
        "..",
    ])
    .is_some_and(|changes| changes.is_empty());
    Some(if is_clean {
        head
    } else {
        format!("{head}-modified")
    })
}

fn main() {
    println!(
        "cargo:rustc-env=WEFT_COMMIT={}",
        commit().as_deref().unwrap_or("unknown")
    );
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=..");
    // A path that does not exist would count as changed in every build.
    if let Some(log) =
        git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).is_file())
    {
        println!("cargo:rerun-if-changed={log}");
    }
}
