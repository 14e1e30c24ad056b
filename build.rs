//! Puts the viewer's page into the server, if it is there: `viewer/dist/index.html.gz`, as it
//! was built. Without it there is no page at `/`.

use std::path::Path;

const PAGE: &str = "viewer/dist/index.html.gz";

fn main() -> std::io::Result<()> {
    println!("cargo:rerun-if-changed=build.rs");
    let page = Path::new(PAGE);
    // What is not there would count as changed each time.
    if let Some(there) = page.ancestors().find(|one| !one.as_os_str().is_empty() && one.exists()) {
        println!("cargo:rerun-if-changed={}", there.display());
    }
    let text = if page.exists() { std::fs::read(page)? } else { Vec::new() };
    let folder = std::env::var_os("OUT_DIR").ok_or_else(|| std::io::Error::other("no OUT_DIR"))?;
    std::fs::write(Path::new(&folder).join("viewer.html.gz"), text)
}
