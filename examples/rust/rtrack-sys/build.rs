// SPDX-License-Identifier: MIT
//! Finds librtrack with pkg-config.

fn main() {
    if let Err(error) = pkg_config::Config::new().atleast_version("0.1").probe("rtrack") {
        eprintln!("{error}");
        std::process::exit(1);
    }
}
