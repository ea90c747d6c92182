//! Commands of the README and the user's guide, run as a reader would run them.

use std::{fs, process::Command};

use crate::{
    installation::Installation,
    process::{binaries, is_installed, output, root},
};

/// Returns the commands of a page: its `sh` blocks, in order.
fn commands(page: &str) -> String {
    page.split("\n```sh\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("\n```"))
        .map(|(block, _)| format!("{block}\n"))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_command_of_the_users_guide_works_page_by_page() {
    if !["bash", "curl", "python3"].into_iter().all(is_installed) {
        return;
    }
    let mut installation = Installation::new().await;
    // One account runs the commands of all pages.
    installation.lift_rate_limits();
    installation.import_demo_catalogue();
    installation.start_all().await;
    installation.account_with("reader", &["--operator"]);

    let mut pages = vec![root().join("README.md")];
    pages.extend(fs::read_dir(root().join("api/guide")).unwrap().map(|entry| entry.unwrap().path()));
    pages.sort();
    let mut run = 0;
    for page in pages {
        let script = commands(&fs::read_to_string(&page).unwrap());
        if script.is_empty() {
            continue;
        }
        let mut bash = Command::new("bash");
        let path = format!("{}:{}", binaries().display(), std::env::var("PATH").unwrap());
        bash.args(["-e", "-c", &script]).current_dir(root());
        bash.env("PATH", path).env("DATABASE_URL", installation.url());
        bash.env_remove("RETORT_TOKEN").env("RETORT_API", format!("http://{}", installation.address()));
        bash.env("RETORT_DATA", installation.folder().join("reader"));
        println!("{}", page.display());
        output(bash);
        run += 1;
    }

    assert!(run >= 10, "{run} pages have commands");
    installation.assert_running();
}
