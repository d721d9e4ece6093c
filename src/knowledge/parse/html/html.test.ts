import { describe, expect, it } from "vitest";
import { parseHtml } from "./html.ts";

/** Headings with "#", rows in one line. */
const shown = (html: string): readonly string[] =>
  parseHtml(html).blocks.map((block) => {
    if (block.kind === "row") return block.cells.join(" | ");
    return block.kind === "heading" ? `# ${block.text}` : block.text;
  });
const answer = "Turn the ring below the shade until it clicks.";
const inMain = (html: string): string =>
  `<main><h1>Lamps</h1><p>All about our lamps and their parts.</p>${html}</main>`;
const head = ["# Lamps", "All about our lamps and their parts."];

describe("parts of a page", () => {
  it.each([
    [
      "a button in a heading",
      `<h2><button aria-expanded="false">Can I dim it</button></h2><div hidden><p>${answer}</p></div>`,
    ],
    [
      "a button above a closed panel",
      `<button aria-controls="a1">Can I dim it</button><section id="a1" hidden>${answer}</section>`,
    ],
    [
      "a button that toggles",
      `<div><button data-bs-toggle="collapse">Can I dim it</button></div><div class="collapse">${answer}</div>`,
    ],
    [
      "a link that is a button",
      `<a href="#" role="button" data-bs-toggle="collapse">Can I dim it</a><div class="collapse">${answer}</div>`,
    ],
    ["details", `<details><summary>Can I dim it</summary><p>${answer}</p></details>`],
    ["tabs", `<button role="tab">Can I dim it</button><div role="tabpanel" aria-hidden="true"><p>${answer}</p></div>`],
  ])("keep the question and the answer of %s", (_name, html) => {
    expect(shown(inMain(html))).toEqual([...head, "# Can I dim it", answer]);
  });

  it("keep a short answer in the closed panel of a button, and drop other hidden words", () => {
    const html = `<h2><button aria-expanded="false">Price of a spare ring</button></h2><div hidden><p>4 euros</p><button>Copy</button></div>
      <div hidden>Copied!</div><button aria-controls="p2">Weight</button><div id="p2" aria-hidden="true">900 grams</div>
      <h2>Cleaning</h2><div hidden>Copied!</div><p>Use a dry cloth for all parts.</p>`;
    expect(shown(inMain(html))).toEqual([
      ...head,
      "# Price of a spare ring",
      "4 euros",
      "# Weight",
      "900 grams",
      "# Cleaning",
      "Use a dry cloth for all parts.",
    ]);
  });

  it("keep a question in any button, and drop what only acts", () => {
    const html = `<button>Which bulb fits?</button><p>Any of six watts.</p><button>Copy</button><pre>parley start</pre>`;
    expect(shown(inMain(html))).toEqual([...head, "# Which bulb fits?", "Any of six watts.", "parley start"]);
  });

  it("keep warnings and notes beside the text, and drop advertisements and lists of links there", () => {
    const warning = "A reset deletes all your scenes and cannot be undone.";
    const links = [1, 2, 3, 4].map((n) => `<a href="/${n}">Another page about lamps ${n}</a>`).join(" ");
    const html = `<aside class="admonition warning"><p>${warning}</p></aside><aside>${links}</aside>
      <aside><p>Get ten percent off your first order today.</p><input type="email"></aside>`;
    expect(shown(inMain(html))).toEqual([...head, warning]);
    expect(shown(`<div><p>Press it for ten seconds.</p><aside class="note">${warning}</aside></div>`)).toContain(
      warning,
    );
  });

  it("keep the title of an article, and drop the header of the site", () => {
    const html = `<header><h1>Acme</h1><p>The best shop of the whole town.</p></header><article><header><h1>Oven doors</h1></header><p>Use warm water and a soft cloth.</p></article>`;
    expect(shown(html)).toEqual(["# Oven doors", "Use warm water and a soft cloth."]);
    expect(parseHtml(html).title).toBe("Oven doors");
  });

  it("keep a page within a form, and drop a form that is filled in", () => {
    const form = `<form><label>Name <input></label><label>Your message <textarea></textarea></label><button>Send</button></form>`;
    expect(shown(`<form id="aspnetForm"><input type="hidden"><h1>Islands</h1><p>Three more days.</p></form>`)).toEqual([
      "# Islands",
      "Three more days.",
    ]);
    expect(shown(inMain(form))).toEqual(head);
    expect(shown("<form><div><p>The island is closed in winter.</p></div></form>")).toEqual([
      "The island is closed in winter.",
    ]);
    expect(shown(inMain("<form><p>Please sign in to your account.</p><input></form>"))).toEqual(head);
  });

  it("drop hidden menus, icons and dialogs", () => {
    const html = `<p>Press it <span aria-hidden="true">expand_more</span> twice.</p>
      <div hidden><a href="/1">One</a> <a href="/2">Two</a></div>
      <div aria-hidden="true">Menu</div><div role="dialog">Would you like to chat with one of our people?</div>`;
    expect(shown(inMain(html))).toEqual([...head, "Press it twice."]);
  });

  it.each([
    [
      "a button of a class for answers",
      `<button class="accordion">Can I dim it</button><div class="panel">${answer}</div>`,
    ],
    ["a button of parts", `<button aria-expanded="false"><div>Can I</div><div>dim it</div></button><p>${answer}</p>`],
    ["an element that is a button", `<div role="button" aria-expanded="false">Can I dim it</div><div>${answer}</div>`],
  ])("keep the question and the answer of %s", (_name, html) => {
    expect(shown(inMain(html))).toEqual([...head, "# Can I dim it", answer]);
  });

  it("keep a question in a button at any length", () => {
    const question = `My lamp hums whenever ${"the ring is turned and ".repeat(6)}the shade is off, is that normal?`;
    expect(shown(inMain(`<button aria-expanded="false">${question}</button><p>${answer}</p>`))).toEqual([
      ...head,
      question,
      answer,
    ]);
  });

  it("drop elements that are buttons and act", () => {
    const html = `<p>Press <span role="button">the ring</span>.</p><div role="button">Duplicate page</div>`;
    expect(shown(inMain(html))).toEqual([...head, "Press the ring."]);
  });

  it.each([
    ["votes", `<div class="article-votes"><p>Did that help you with your lamp?</p><small>3 of 4 agree</small></div>`],
    ["links of a blog", `<section class="related_articles"><h3>More</h3><p><a href="/a">Bulbs</a></p></section>`],
    [
      "what a wiki adds",
      `<div class="printfooter">Retrieved from lamps</div><div id="siteSub">From the lamp wiki</div>`,
    ],
    ["profiles of a forum", `<dl class="postprofile"><dt>otto</dt><dd>Posts: 12, joined on a Sunday</dd></dl>`],
    ["advertisements", `<div class="inline-promo"><p>Get our set of five bulbs now.</p></div>`],
    [
      "links to the pages before and after",
      `<div><a rel="prev" href="/a">Bulbs</a><a rel="next" href="/b">Shades</a></div>`,
    ],
    ["a header of links", `<header><a href="/tour">Tour</a><a href="/in">Sign in</a></header>`],
  ])("drop %s within the content", (_name, html) => {
    expect(shown(inMain(html))).toEqual(head);
  });

  it("keep a long text of a class for prompts, and sections whose ids are the words of their headings", () => {
    const text = "Tell us the number below the base of the lamp when you write, or we cannot find it.";
    const html = `<div class="feedback"><p>${text}</p></div><section id="sharing"><h2>Sharing</h2><p>${answer}</p></section>`;
    expect(shown(inMain(html))).toEqual([...head, text, "# Sharing", answer]);
  });

  it("end with the text of the only article, unless text or questions follow", () => {
    const text = `<p>${"Dust the shade with a dry cloth once a month. ".repeat(6)}</p>`;
    const page = (below: string): readonly string[] =>
      shown(
        `<main><h1>Shades</h1><p>For all sizes</p><div class="entry-content"><div class="article-body">${text}</div></div>${below}</main>`,
      ).slice(3);
    expect(page(`<div class="next"><h3>Read on</h3><p>Our bulbs</p><p><a href="/b">Bulbs</a></p></div>`)).toEqual([]);
    const long = "Shades of paper are never washed: water leaves rings that no cloth takes away.";
    expect(page(`<p>${long}</p>`)).toEqual([long]);
    const questions = ["# Is silk safe?", "Yes.", "# Is wool?", "No."];
    expect(page(`<h3>Is silk safe?</h3><p>Yes.</p><h3>Is wool?</h3><p>No.</p>`)).toEqual(questions);
  });

  it("keep all articles of a page", () => {
    const post = (name: string): string =>
      `<article><div class="post-content"><p>${`${name} turned the ring below the shade. `.repeat(6)}</p></div></article>`;
    expect(shown(`<main>${post("Ada")}<p>Solved</p>${post("Otto")}<p>Closed</p></main>`)).toHaveLength(4);
  });

  it("have the heading above the content that the title of the page names", () => {
    const html = (heading: string): string =>
      `<title>Lamps: Dimming at night</title><h1>${heading}</h1><div id="content"><h1>Before</h1><p>${answer}</p></div>`;
    expect(shown(html("Dimming at night"))).toEqual(["# Dimming at night", "# Before", answer]);
    expect(parseHtml(html("Dimming at night")).title).toBe("Dimming at night");
    expect(shown(html("Acme"))).toEqual(["# Before", answer]);
  });

  it("drop bars of links where no content is marked", () => {
    const bar = `<div><a href="/1">Start</a> | <a href="/2">Prices</a> | <a href="/3">Guests</a></div>`;
    expect(shown(`${bar}<div><h1>Shades</h1><p>${answer}</p></div>`)).toEqual(["# Shades", answer]);
  });
});

describe("pages of older programs", () => {
  const fees = "<table><tr><td><b>Boat</b></td><td><b>Fee</b></td></tr><tr><td>Yawl</td><td>9 pounds</td></tr></table>";
  const rule = "Every boat needs a light at its mast from dusk on.";

  it("keep the text of tables that lay them out, in its order, and drop their lists of links", () => {
    const html = `<table><tr><td><font><a href="/1">Boats</a> | <a href="/2">Log</a> | <a href="/3">Mail</a></font></td></tr>
      <tr><td><font><b>Fees</b><p>${rule}<p>These are the fees.</font>${fees}<p>Pay at the pier.</td></tr></table>`;
    expect(shown(html)).toEqual([
      "# Fees",
      rule,
      "These are the fees.",
      "Boat: Yawl | Fee: 9 pounds",
      "Pay at the pier.",
    ]);
  });

  it("keep a table of one text beside others, and one of short cells", () => {
    const texts = `<table><tr><td><a href="/1">Boats</a></td><td><p>${rule}<p>Dogs sail for free.<p>Pay at the pier.</td></tr></table>`;
    expect(shown(texts)).toContain("Dogs sail for free.");
    expect(shown(fees)).toEqual(["Boat: Yawl | Fee: 9 pounds"]);
  });

  it("drop the parts around the content of a page in a form that names no landmarks", () => {
    const html = `<form id="form1"><div id="ctl00_Top1_header"><span>Port of Skell</span></div>
      <div id="ctl00_LeftMenu"><a href="/1">Tides</a></div><span id="ctl00_SiteMapPath1"><a href="/">Port</a></span>
      <div id="ctl00_cphMain_pnl"><h1>Moorings</h1><p>${rule} <span id="ctl00_cphMain_lbl">No sails.</span></p></div>
      <div id="ctl00_Footer1_footer">Port Authority</div></form>`;
    expect(shown(html)).toEqual(["# Moorings", `${rule} No sails.`]);
  });

  it("keep the head of a site that holds the heading of the page", () => {
    expect(shown(`<div id="header"><h1>Moorings</h1></div><p>${rule}</p>`)).toEqual(["# Moorings", rule]);
  });
});

describe("links at the end of a page", () => {
  const links = `<div><a href="/a"><span>Previous</span><span>Bulbs</span></a><a href="/b"><span>Shades</span></a></div>`;

  it("are dropped where they lead to the pages before and after", () => {
    expect(shown(inMain(`${links}<p>Updated last week</p>`))).toEqual([...head, "Updated last week"]);
  });

  it("are kept below a heading, after a colon, above text, and where there is one", () => {
    expect(shown(inMain(`<h2>Downloads</h2>${links}`))).toHaveLength(4);
    expect(shown(inMain(`<p>Get these:</p>${links}`))).toHaveLength(4);
    expect(shown(inMain(`${links}<h2>Dimming</h2><p>${answer}</p>`))).toHaveLength(5);
    expect(shown(inMain(`<div><a href="/a">Manual of the lamp</a></div>`))).toHaveLength(3);
  });
});

describe("tables of a page", () => {
  const table = (rows: readonly (readonly string[])[]): string =>
    `<table>${rows.map((row) => `<tr>${row.map((cell) => `<td>${cell}</td>`).join("")}</tr>`).join("")}</table>`;

  it("name their columns by a first row of bold words, or of words above numbers", () => {
    const named = ["Plan: Gold | Users: 40"];
    expect(
      shown(
        table([
          ["<b>Plan</b>", "<b>Users</b>"],
          ["Gold", "40"],
        ]),
      ),
    ).toEqual(named);
    expect(
      shown(
        table([
          ["Plan", "Users"],
          ["Gold", "40"],
        ]),
      ),
    ).toEqual(named);
  });

  it("keeps cells over several rows or columns below the names of their columns", () => {
    const rows = "<tr><td rowspan=2>Midi</td><td>S</td><td>5 €</td></tr><tr><td>L</td><td>7 €</td></tr>";
    expect(shown(`<table><tr><th>Plan</th><th>Size</th><th>Price</th></tr>${rows}</table>`)).toEqual([
      "Plan: Midi | Size: S | Price: 5 €",
      "Plan: Midi | Size: L | Price: 7 €",
    ]);
    const header = "<tr><th rowspan=2>Plan</th><th colspan=2>Price</th></tr><tr><th>Month</th><th>Year</th></tr>";
    expect(shown(`<table>${header}<tr><td>Midi</td><td>5 €</td><td>50 €</td></tr></table>`)).toEqual([
      "Plan: Midi | Price Month: 5 € | Price Year: 50 €",
    ]);
    const wide = "<tr><td colspan=2>Small plans</td></tr><tr><td>Midi</td><td>5 €</td></tr>";
    expect(shown(`<table><tr><th>Plan</th><th>Price</th></tr>${wide}</table>`)).toEqual([
      "Plan: Small plans | ",
      "Plan: Midi | Price: 5 €",
    ]);
  });

  it("repeats a long cell in no more rows than memory holds", () => {
    const long = "x".repeat(1_000);
    const page = `<table><tr><td rowspan=1000>${long}</td><td>a</td></tr>${"<tr><td>b</td></tr>".repeat(900)}</table>`;
    expect(shown(page).join("").length).toBeLessThan(250_000);
  });

  it("name their columns by header cells beside an empty corner, and by bold styles", () => {
    expect(
      shown("<table><tr><td></td><th>Basic</th><th>Plus</th></tr><tr><td>Seats</td><td>3</td><td>25</td></tr></table>"),
    ).toEqual(["Seats | Basic: 3 | Plus: 25"]);
    expect(shown("<table><tr><th>Phone</th><td></td></tr><tr><th>Fax</th><td>none</td></tr></table>")).toEqual([
      "Phone | ",
      "Fax | none",
    ]);
    const bold = `<td style="font-weight: 700">Country</td><td><span style="color:red;font-weight:bold">Fee</span></td>`;
    expect(shown(`<table><tr>${bold}</tr><tr><td>Malta</td><td><span>none</span></td></tr></table>`)).toEqual([
      "Country: Malta | Fee: none",
    ]);
  });

  it("have no header where the first row is like the others", () => {
    expect(
      shown(
        table([
          ["Gold", "40"],
          ["Silver", "10"],
        ]),
      ),
    ).toEqual(["Gold | 40", "Silver | 10"]);
    expect(
      shown(
        table([
          ["Opens", "early"],
          ["Closes", "late"],
        ]),
      ),
    ).toEqual(["Opens | early", "Closes | late"]);
    expect(shown(table([["Only", "row"]]))).toEqual(["Only | row"]);
  });
});
