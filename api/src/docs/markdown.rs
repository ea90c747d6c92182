//! Pages of the guides from Markdown to HTML, with an anchor at each heading.
//!
//! Raw HTML is shown as text, and nothing carries a style. So a page is what the policy of embedded pages allows.

use std::collections::BTreeMap;

use maud::html;
use pulldown_cmark::{Event, LinkType, Options, Parser, Tag, TagEnd, html::push_html};

/// A page as HTML, and its sections as a search sees them.
pub struct Rendered {
    pub html: String,
    pub sections: Vec<GuideSection>,
}

/// A heading with the text up to the next heading.
pub struct GuideSection {
    /// 1 for the page's title.
    pub level: u8,
    pub anchor: String,
    pub heading: String,
    pub text: String,
}

/// Target of a link.
pub enum LinkTarget {
    /// Address that a browser follows.
    Address(String),
    /// File of the repository that is not served; its path is shown as text.
    File(String),
}

/// Renders `markdown`; `resolve` says where a link leads.
pub fn render(markdown: &str, resolve: impl Fn(&str) -> LinkTarget) -> Rendered {
    let events: Vec<_> = Parser::new_ext(markdown, Options::ENABLE_TABLES).collect();
    let mut page = Rendered { html: String::new(), sections: Vec::new() };
    let mut anchors = BTreeMap::new();
    let mut output = Vec::new();
    let mut file = None;
    for (position, event) in events.iter().enumerate() {
        page.index(event);
        match event {
            Event::Start(Tag::Heading { level, .. }) => {
                let heading = heading_text(events.get(position..).unwrap_or_default());
                let anchor = anchor(&heading, &mut anchors);
                let id = Some(anchor.clone().into());
                output.push(Event::Start(Tag::Heading { level: *level, id, classes: vec![], attrs: vec![] }));
                page.sections.push(GuideSection {
                    level: *level as u8,
                    anchor,
                    heading,
                    text: String::new(),
                });
            }
            Event::End(TagEnd::Heading(_)) => {
                output.extend(page.sections.last().map(own_link));
                output.push(event.clone());
            }
            Event::Start(Tag::Link { dest_url, .. }) => match resolve(dest_url) {
                LinkTarget::Address(address) => output.push(Event::Start(Tag::Link {
                    link_type: LinkType::Inline,
                    dest_url: address.into(),
                    title: "".into(),
                    id: "".into(),
                })),
                LinkTarget::File(path) => file = Some(path),
            },
            Event::End(TagEnd::Link) => output.push(match file.take() {
                Some(path) => Event::Html(html! { " (" code { (path) } ")" }.into_string().into()),
                None => event.clone(),
            }),
            Event::Start(Tag::Table(_)) => {
                let region = r#"<div class="scroll" tabindex="0" role="region" aria-label="Table">"#;
                output.extend([Event::Html(region.into()), event.clone()]);
            }
            Event::End(TagEnd::Table) => output.extend([event.clone(), Event::Html("</div>".into())]),
            Event::Start(Tag::CodeBlock(_)) => {
                let region = r#"<pre tabindex="0" role="region" aria-label="Commands"><code>"#;
                output.push(Event::Html(region.into()));
            }
            Event::End(TagEnd::CodeBlock) => output.push(Event::Html("</code></pre>".into())),
            Event::Html(text) | Event::InlineHtml(text) => output.push(Event::Text(text.clone())),
            // A picture would be loaded from an address that is not served; its description stays.
            Event::Start(Tag::Image { .. } | Tag::HtmlBlock)
            | Event::End(TagEnd::Image | TagEnd::HtmlBlock) => {}
            event => output.push(event.clone()),
        }
    }
    push_html(&mut page.html, output.into_iter());
    page
}

impl Rendered {
    /// Returns the page's title, its first heading.
    pub fn title(&self) -> &str {
        self.sections.first().map_or("", |section| &section.heading)
    }

    /// Adds what `event` shows to the text of the last section.
    fn index(&mut self, event: &Event<'_>) {
        let Some(section) = self.sections.last_mut() else { return };
        match event {
            Event::Text(text) | Event::Code(text) | Event::Html(text) | Event::InlineHtml(text) => {
                section.text.push_str(text);
            }
            Event::End(TagEnd::Heading(_)) => section.text.clear(),
            Event::SoftBreak
            | Event::HardBreak
            | Event::End(TagEnd::Paragraph | TagEnd::Item | TagEnd::TableCell | TagEnd::CodeBlock) => {
                section.text.push(' ');
            }
            _ => {}
        }
    }
}

/// Returns the text of the heading that `events` begin with.
fn heading_text(events: &[Event<'_>]) -> String {
    let inside = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let texts = inside.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(&**text),
        _ => None,
    });
    texts.collect()
}

/// Returns the anchor of a heading by GitHub's rule; `before` counts those of the page.
fn anchor(heading: &str, before: &mut BTreeMap<String, u32>) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    let anchor: String = kept.flat_map(char::to_lowercase).collect::<String>().replace(' ', "-");
    let count = before.entry(anchor.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
}

/// Returns a heading's link to itself.
fn own_link(section: &GuideSection) -> Event<'static> {
    let label = format!("Link to {}", section.heading);
    let link = html! { a.anchor href={ "#" (section.anchor) } aria-label=(label) { "#" } };
    Event::Html(link.into_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(markdown: &str) -> Rendered {
        render(markdown, |link| match link.strip_prefix("file:") {
            Some(path) => LinkTarget::File(path.to_owned()),
            None => LinkTarget::Address(format!("/at/{link}")),
        })
    }

    #[test]
    fn headings_have_anchors_that_differ() {
        let page = rendered("# A `b`: c\n\n## Same\n\nOne.\n\n## Same\n");

        let sections: Vec<_> =
            page.sections.iter().map(|section| (section.level, &*section.anchor)).collect();
        assert_eq!(sections, [(1, "a-b-c"), (2, "same"), (2, "same-1")]);
        assert_eq!(page.title(), "A b: c");
        assert!(
            page.html.contains(r##"<h2 id="same-1">Same<a class="anchor" href="#same-1""##),
            "{}",
            page.html
        );
    }

    #[test]
    fn links_lead_to_addresses_and_files_are_named() {
        let page = rendered("[here](a\"b) and [there](file:ops/x.md).");

        assert_eq!(
            page.html.trim(),
            r#"<p><a href="/at/a%22b">here</a> and there (<code>ops/x.md</code>).</p>"#
        );
    }

    #[test]
    fn html_is_text_and_pictures_are_their_descriptions() {
        let page = rendered("<script>x</script>\n\na <b>c</b> ![d](e.png)\n\n```sh\n<f>\n```\n");

        assert!(!page.html.contains("<script") && !page.html.contains("<b>") && !page.html.contains("<img"));
        assert!(page.html.contains("&lt;script&gt;x") && page.html.contains("&lt;b&gt;c&lt;/b&gt; d"));
        assert!(page.html.contains("<code>&lt;f&gt;\n</code></pre>"), "{}", page.html);
    }

    #[test]
    fn a_section_has_the_words_of_its_table_and_its_code() {
        let page = rendered("# T\n\nOne\ntwo.\n\n| a | b |\n|---|---|\n| `c` | d |\n\n```sh\nrun\n```\n");

        let words: Vec<_> = page.sections[0].text.split_whitespace().collect();
        assert_eq!(words, ["One", "two.", "a", "b", "c", "d", "run"]);
    }
}
