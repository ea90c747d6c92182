//! `retort app`: applications that the operator registers directly in the database.
//!
//! A redirect address is accepted only in the canonical spelling that its parser returns, because the service later
//! compares bytes. The target is a host over TLS, the person's own machine, or an app with a scheme that is a
//! reversed domain name (RFC 8252, section 7.1).

use anyhow::anyhow;
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use clap::{Args, Subcommand};
use contract::Flow;
use identity::tables::applications::{self, Application, ClientType};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use sqlx::PgConnection;
use url::Url;

use super::account::{parse_name, parse_scopes, show_scopes};
use crate::{InstallationArgs, audit_log::LoggedAction, failure::Failure, service::CLIENT_ID, terminal};

/// Built-in clients that migrations create: the command line and the console.
const BUILT_IN: [&str; 2] = [CLIENT_ID, "console"];

/// Manage applications.
#[derive(Debug, Subcommand)]
pub enum AppArgs {
    /// Register an application; prints its client id, then its secret if it has one.
    Add(AddAppArgs),
    /// List applications: client id, kind, flows, redirect addresses, scopes, name.
    List,
    /// Remove an application; its tokens end within a minute.
    Remove {
        /// Client id, as `retort app list` shows it.
        client_id: String,
    },
}

/// Register an application.
#[derive(Debug, Args)]
pub struct AddAppArgs {
    /// Name that people see when they are asked for consent.
    name: String,
    /// Redirect address; can be given several times. On `http://127.0.0.1/…` any port is accepted.
    #[arg(long = "redirect", value_name = "URL")]
    redirects: Vec<String>,
    /// Address to which a browser may be sent after a logout; can be given several times.
    #[arg(long = "logout-redirect", value_name = "URL")]
    logout_redirects: Vec<String>,
    /// The application can keep a secret (a server can; a web page or a program on people's machines cannot).
    #[arg(long)]
    confidential: bool,
    /// Flows by which the application gets tokens: code, implicit, device.
    #[arg(long, value_delimiter = ',', value_name = "FLOW,…", default_value = "code")]
    flows: Vec<Flow>,
    /// Maximum scopes of its tokens, separated by commas [default: everything].
    #[arg(long, value_delimiter = ',', value_name = "SCOPE,…")]
    scopes: Option<Vec<String>>,
}

impl AppArgs {
    /// Runs the command.
    pub async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        match self {
            Self::Add(add) => add.run(installation).await,
            Self::List => {
                let lines = list(&mut installation.data().connect().await?).await?;
                lines.iter().try_for_each(|application| terminal::data(&to_line(application)))
            }
            Self::Remove { client_id } => {
                remove(&mut installation.data().connect().await?, &client_id).await?;
                terminal::note(&format!("removed {client_id}; its tokens end within a minute"));
                Ok(())
            }
        }
    }
}

impl AddAppArgs {
    async fn run(self, installation: &InstallationArgs) -> Result<(), Failure> {
        let secret = self.confidential.then(|| URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>()));
        let application = self.into_application(secret.as_deref())?;

        insert(&mut installation.data().connect().await?, &application).await?;

        terminal::data(&application.client_id)?;
        if let Some(secret) = secret {
            terminal::data(&secret)?;
            terminal::note("the secret on the second line is shown this once");
        }
        Ok(())
    }

    fn into_application(self, secret: Option<&str>) -> Result<Application, Failure> {
        let redirecting = self.flows.iter().any(|flow| matches!(flow, Flow::Code | Flow::Implicit));
        if redirecting && self.redirects.is_empty() {
            return Err(Failure::Usage("the flows code and implicit need a --redirect".into()));
        }
        if self.flows.contains(&Flow::Password) {
            return Err(Failure::Usage(format!("only {CLIENT_ID} may use passwords")));
        }
        let name = parse_name(&self.name)?;
        let addresses = |texts: Vec<String>| -> Result<Vec<_>, Failure> {
            texts.iter().map(|text| parse_redirect(text)).collect()
        };
        let mut flows = self.flows;
        flows.sort_unstable();
        flows.dedup();
        Ok(Application {
            client_id: format!("app_{}", ulid::Ulid::generate().to_string().to_ascii_lowercase()),
            name,
            secret_hash: secret.map(|secret| Sha256::digest(secret).to_vec()),
            redirect_uris: addresses(self.redirects)?,
            logout_uris: addresses(self.logout_redirects)?,
            flows: flows.iter().map(Flow::to_string).collect(),
            scopes: parse_scopes(self.scopes.as_deref())?,
        })
    }
}

fn to_line(application: &Application) -> String {
    let kind = match application.kind() {
        ClientType::Confidential => "confidential",
        ClientType::Public => "public",
    };
    let Application { client_id, name, .. } = application;
    let scopes = show_scopes(&application.scopes);
    let (flows, redirects) = (application.flows.join(","), application.redirect_uris.join(" "));
    format!("{client_id}\t{kind}\t{flows}\t{redirects}\t{scopes}\t{name}")
}

fn parse_redirect(text: &str) -> Result<String, Failure> {
    let refused = |reason: &str| Failure::Usage(format!("`{text}` cannot be a redirect address: {reason}"));
    let url = Url::parse(text).map_err(|error| refused(&error.to_string()))?;
    if url.as_str() != text {
        return Err(refused(&format!("write it as {url}")));
    }
    if url.fragment().is_some() || !url.username().is_empty() || url.password().is_some() {
        return Err(refused("it has a fragment or a user"));
    }
    if text.contains('*') {
        return Err(refused("addresses are compared byte for byte; there are no wildcards"));
    }
    match (url.scheme(), url.host_str()) {
        ("https", Some(_)) | ("http", Some("127.0.0.1" | "[::1]" | "localhost")) => Ok(text.to_owned()),
        ("http", _) => Err(refused("http is for 127.0.0.1, [::1] and localhost only; use https")),
        (scheme, _) if scheme.contains('.') => Ok(text.to_owned()),
        _ => Err(refused("want https, or a scheme like org.example.app")),
    }
}

async fn insert(database: &mut PgConnection, application: &Application) -> Result<(), Failure> {
    let mut act = LoggedAction::begin(database, "registering the application").await?;
    let failed = act.failed();
    applications::add(act.connection(), application).await.map_err(failed)?;
    let details = json!({
        "name": application.name, "confidential": application.kind() == ClientType::Confidential,
        "flows": application.flows, "redirects": application.redirect_uris,
        "scopes": show_scopes(&application.scopes),
    });
    act.done("app add", &application.client_id, details).await
}

async fn list(database: &mut PgConnection) -> Result<Vec<Application>, Failure> {
    applications::list(database).await.map_err(|error| Failure::database("listing the applications", &error))
}

/// Removes the application with its codes, consents and refresh tokens, and revokes its access tokens.
async fn remove(database: &mut PgConnection, client_id: &str) -> Result<(), Failure> {
    if BUILT_IN.contains(&client_id) {
        return Err(Failure::Usage(format!("{client_id} is a part of Retort; it cannot be removed")));
    }
    let mut act = LoggedAction::begin(database, "removing the application").await?;
    let failed = act.failed();
    let removed = applications::remove(act.connection(), client_id).await.map_err(failed)?;
    let name = removed.ok_or_else(|| anyhow!("there is no application {client_id}"))?;
    act.done("app remove", client_id, json!({ "name": name })).await
}

#[cfg(test)]
mod tests {
    use super::*;
    use test_support::with_database;

    fn add(name: &str, redirects: &[&str], flows: &[Flow]) -> AddAppArgs {
        AddAppArgs {
            name: name.to_owned(),
            redirects: redirects.iter().map(|text| (*text).to_owned()).collect(),
            logout_redirects: Vec::new(),
            confidential: false,
            flows: flows.to_vec(),
            scopes: None,
        }
    }

    #[test]
    fn a_redirect_address_is_exact_and_leads_where_only_the_application_is() {
        for good in [
            "https://app.test/callback",
            "https://app.test/?tenant=1",
            "http://127.0.0.1/callback",
            "http://[::1]:8000/",
            "http://localhost:3000/cb",
            "org.example.app:/callback",
        ] {
            assert_eq!(parse_redirect(good).unwrap(), good);
        }
        for bad in [
            "app.test/callback",
            "https://app.test",
            "https://APP.test/cb",
            "https://app.test/../cb",
            "https://app.test/cb#part",
            "https://user@app.test/cb",
            "https://*.app.test/cb",
            "http://app.test/cb",
            "javascript:alert(1)",
            "data:text/html,x",
            "myapp:/cb",
            "",
        ] {
            assert!(matches!(parse_redirect(bad), Err(Failure::Usage(_))), "{bad}");
        }
    }

    #[test]
    fn what_makes_no_sense_is_wrong_usage() {
        for add in [
            add("App", &[], &[Flow::Code]),
            add(" ", &["https://app.test/cb"], &[Flow::Code]),
            add("App", &[], &[Flow::Password]),
        ] {
            assert!(matches!(add.into_application(None), Err(Failure::Usage(_))));
        }
        assert!(add("Tool", &[], &[Flow::Device]).into_application(None).is_ok());
    }

    #[tokio::test]
    async fn a_removed_application_takes_its_tokens_along() {
        with_database(async |database| {
            let added = add("App", &["https://app.test/cb"], &[Flow::Implicit, Flow::Code]);
            let added = added.into_application(Some("secret")).unwrap();
            insert(database, &added).await.unwrap();
            let listed = list(database).await.unwrap();
            let lines: Vec<_> = listed.iter().map(to_line).collect();

            remove(database, &added.client_id).await.unwrap();

            let id = &added.client_id;
            assert_eq!(
                lines,
                [
                    "retort-cli\tpublic\tcode,device,password\thttp://127.0.0.1/callback\tall,operations\tRetort command line"
                        .to_owned(),
                    "console\tpublic\tcode\t/console/operations /\toperations,openid,profile,email,generator_api.samples:create,\
                     generator_api.samples:read,generator_api.samples:delete,generator_api.models:read,synth_api.plans:create,\
                     synth_api.plans:read,synth_api.plans:delete,synth_api.routes:create,synth_api.routes:read,\
                     synth_api.routes:update,synth_api.routes:delete,synth_api.queries:create\tRetort console"
                        .to_owned(),
                    format!("{id}\tconfidential\tcode,implicit\thttps://app.test/cb\tall\tApp"),
                ]
            );
            let revoked: Vec<(String,)> =
                sqlx::query_as("select id from revocations").fetch_all(&mut *database).await.unwrap();
            assert_eq!(revoked, [(id.clone(),)]);
            assert!(remove(database, id).await.is_err());
            for built_in in BUILT_IN {
                assert!(matches!(remove(database, built_in).await, Err(Failure::Usage(_))));
            }
        })
        .await;
    }
}
