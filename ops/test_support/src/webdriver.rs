//! Chromium, driven by chromedriver over WebDriver (W3C), with the commands that our tests need. A command that fails
//! panics.

use std::{
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::Method;
use serde_json::{Value, json};

/// Timeout of any browser command.
const COMMAND_TIMEOUT: Duration = Duration::from_secs(60);

/// Key by which WebDriver refers to elements.
const ELEMENT_KEY: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Error of a command whose element is no longer in the page.
const STALE: &str = "stale element reference";

/// Permission for pages to run scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Script {
    /// Scripts run.
    On,
    /// Scripts do not run.
    Off,
}

/// Browser of one test.
#[derive(Debug)]
pub struct Chromium {
    driver: Child,
    http: reqwest::Client,
    session: String,
}

impl Chromium {
    /// Starts the browser.
    ///
    /// # Errors
    /// Returns what is not installed.
    pub async fn start(script: Script) -> Result<Self, String> {
        let missing = |what: &str| format!("{what} does not start: apt-get install chromium chromium-driver");
        let port = free_port();
        let mut command = Command::new("chromedriver");
        command
            .arg(format!("--port={port}"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let driver = command.spawn().map_err(|_| missing("chromedriver"))?;
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut chromium = Self { driver, http, session: format!("http://127.0.0.1:{port}") };
        let begun = Instant::now();
        while chromium.http.get(format!("{}/status", chromium.session)).send().await.is_err() {
            if begun.elapsed() > COMMAND_TIMEOUT {
                return Err(missing("chromedriver"));
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        let options = json!({
            // Chromium has no sandbox as root, and containers have little shared memory.
            "args": ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=900,700"],
            "prefs": { "profile.managed_default_content_settings.javascript": if script == Script::On { 1 } else { 2 } },
        });
        let capabilities_wanted =
            json!({ "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
        let capabilities = json!({ "capabilities": { "alwaysMatch": capabilities_wanted } });
        let session = chromium.try_call(Method::POST, "/session", Some(capabilities)).await;
        let session = session.map_err(|_| missing("chromium"))?;
        chromium.session = format!("{}/session/{}", chromium.session, session["sessionId"].as_str().unwrap());
        // A page that is still loading may not have the element yet.
        let timeouts = json!({ "implicit": COMMAND_TIMEOUT.as_millis() as u64 });
        chromium.call(Method::POST, "/timeouts", Some(timeouts)).await;
        Ok(chromium)
    }

    /// Opens a page.
    pub async fn open(&self, url: &str) {
        self.call(Method::POST, "/url", Some(json!({ "url": url }))).await;
    }

    /// Returns the title of the page.
    pub async fn title(&self) -> String {
        text(&self.call(Method::GET, "/title", None).await)
    }

    /// Waits for the page with `title`.
    pub async fn wait_for_title(&self, title: &str) {
        let begun = Instant::now();
        while self.title().await != title {
            assert!(begun.elapsed() < COMMAND_TIMEOUT, "the page is {}, not {title}", self.title().await);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the first element of the page that matches.
    pub async fn find(&self, selector: &str) -> String {
        let by = json!({ "using": "css selector", "value": selector });
        text(&self.call(Method::POST, "/element", Some(by)).await[ELEMENT_KEY])
    }

    /// Reads a property of an element: `text`, `computedrole`, `computedlabel`.
    pub async fn read(&self, element: &str, what: &str) -> String {
        text(&self.call(Method::GET, &format!("/element/{element}/{what}"), None).await)
    }

    /// Returns the visible text of an element.
    pub async fn text(&self, selector: &str) -> String {
        text(&self.act(Method::GET, selector, "text", None).await)
    }

    /// Clicks an element.
    pub async fn click(&self, selector: &str) {
        self.act(Method::POST, selector, "click", Some(json!({}))).await;
    }

    /// Types into an element.
    pub async fn type_into(&self, selector: &str, keys: &str) {
        self.act(Method::POST, selector, "value", Some(json!({ "text": keys }))).await;
    }

    /// Runs an element's command, again where the page rendered anew after the element was found.
    async fn act(&self, method: Method, selector: &str, command: &str, body: Option<Value>) -> Value {
        let begun = Instant::now();
        loop {
            let path = format!("/element/{}/{command}", self.find(selector).await);
            match self.try_call(method.clone(), &path, body.clone()).await {
                Ok(value) => return value,
                Err(error) if error["error"] == STALE && begun.elapsed() < COMMAND_TIMEOUT => {}
                Err(error) => panic!("{selector}, {command}: {error}"),
            }
        }
    }

    /// Sets the value of the field with this id, even if it is hidden.
    pub async fn put(&self, field: &str, text: &str) {
        let act = "field.value = text; field.dispatchEvent(new Event('input'))";
        let (field, text) = (json!(field), json!(text));
        self.run(&format!("const [field, text] = [document.getElementById({field}), {text}]; {act}")).await;
    }

    /// Navigates to a view of the console as its links do.
    pub async fn go(&self, part: &str) {
        self.run(&format!("location.hash = {}", json!(part))).await;
    }

    /// Types into the element that has the focus.
    pub async fn type_where_the_cursor_is(&self, keys: &str) {
        let element = text(&self.call(Method::GET, "/element/active", None).await[ELEMENT_KEY]);
        self.call(Method::POST, &format!("/element/{element}/value"), Some(json!({ "text": keys }))).await;
    }

    /// Returns the result of this function in the page.
    pub async fn run(&self, function: &str) -> Value {
        let script = json!({ "script": function, "args": [] });
        self.call(Method::POST, "/execute/sync", Some(script)).await
    }

    /// Returns the value that this function passes to its last argument, asynchronously.
    pub async fn run_async(&self, function: &str) -> Value {
        let script = json!({ "script": function, "args": [] });
        self.call(Method::POST, "/execute/async", Some(script)).await
    }

    /// Waits until the text of an element satisfies `is_it`.
    pub async fn wait_for_text(&self, selector: &str, is_it: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let text = self.text(selector).await;
            if is_it(&text) {
                return text;
            }
            assert!(begun.elapsed() < COMMAND_TIMEOUT, "{selector} says {text}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Waits until this function returns true in the page.
    pub async fn until(&self, is_so: &str) {
        let begun = Instant::now();
        while self.run(is_so).await != true {
            assert!(begun.elapsed() < COMMAND_TIMEOUT, "never: {is_so}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Returns the browser's log since the last call: script errors, policy violations, failed loads.
    pub async fn complaints(&self) -> Vec<Value> {
        let log = self.call(Method::POST, "/se/log", Some(json!({ "type": "browser" }))).await;
        log.as_array().unwrap().clone()
    }

    /// Resizes the window, for example to a small phone and back.
    pub async fn resize(&self, width: u32, height: u32) {
        let size = json!({ "width": width, "height": height });
        self.call(Method::POST, "/window/rect", Some(size)).await;
    }

    /// Returns the cookies of the page.
    pub async fn cookies(&self) -> Vec<Value> {
        self.call(Method::GET, "/cookie", None).await.as_array().unwrap().clone()
    }

    /// Saves screenshots of the page in the folder `SCREENSHOTS`, if it is set: as it is (`name.png`), on a wide
    /// screen, on a phone, and in dark mode.
    pub async fn screenshot(&self, name: &str) {
        let Some(folder) = std::env::var_os("SCREENSHOTS") else { return };
        let folder = std::path::Path::new(&folder);
        let save = async |name: &str| {
            let picture = text(&self.call(Method::GET, "/screenshot", None).await);
            std::fs::write(folder.join(format!("{name}.png")), STANDARD.decode(picture).unwrap()).unwrap();
        };
        save(name).await;
        for (kind, width, height, colours) in
            [("wide", 1360, 820, "light"), ("wide_dark", 1360, 820, "dark"), ("narrow", 360, 780, "light")]
        {
            let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
            self.chromium_command("Emulation.setDeviceMetricsOverride", size).await;
            let feature = json!({ "name": "prefers-color-scheme", "value": colours });
            self.chromium_command("Emulation.setEmulatedMedia", json!({ "features": [feature] })).await;
            // Elements rendered on scrolling into view need time.
            tokio::time::sleep(Duration::from_millis(600)).await;
            save(&format!("{name}_{kind}")).await;
        }
        self.chromium_command("Emulation.setEmulatedMedia", json!({ "features": [] })).await;
        self.chromium_command("Emulation.clearDeviceMetricsOverride", json!({})).await;
        tokio::time::sleep(Duration::from_millis(200)).await;
    }

    /// Runs a Chromium command that WebDriver does not define.
    async fn chromium_command(&self, command: &str, parameters: Value) {
        let body = json!({ "cmd": command, "params": parameters });
        self.call(Method::POST, "/goog/cdp/execute", Some(body)).await;
    }

    /// Counts the printed pages, in the page's own paper size.
    pub async fn sheets(&self) -> usize {
        let print = json!({ "cmd": "Page.printToPDF", "params": { "preferCSSPageSize": true } });
        let printed = self.call(Method::POST, "/goog/cdp/execute", Some(print)).await;
        let pdf = STANDARD.decode(text(&printed["data"])).unwrap();
        String::from_utf8_lossy(&pdf)
            .split("/Type /Page")
            .skip(1)
            .filter(|rest| !rest.starts_with('s'))
            .count()
    }

    async fn call(&self, method: Method, path: &str, body: Option<Value>) -> Value {
        self.try_call(method, path, body).await.unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    async fn try_call(&self, method: Method, path: &str, body: Option<Value>) -> Result<Value, Value> {
        let mut request =
            self.http.request(method, format!("{}{path}", self.session)).timeout(COMMAND_TIMEOUT);
        if let Some(body) = body {
            request = request.json(&body);
        }
        let response = request.send().await.unwrap();
        let good = response.status().is_success();
        let value = response.json::<Value>().await.unwrap()["value"].take();
        if good { Ok(value) } else { Err(value) }
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        // The browser ends with its session; killing the driver alone would leave the browser running.
        let _ = end(&self.session);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// Returns a TCP port of this machine that nothing listens on.
///
/// # Panics
/// Panics if no port is free.
#[must_use]
pub fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// Ends a session without the runtime, which a failed test has lost.
fn end(session: &str) -> io::Result<()> {
    let address = session.trim_start_matches("http://").split_once('/');
    let (address, path) = address.ok_or(io::ErrorKind::NotFound)?;
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(COMMAND_TIMEOUT))?;
    write!(stream, "DELETE /{path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
    stream.read(&mut [0; 1024]).map(drop)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_else(|| panic!("no text: {value}")).to_owned()
}
