/** Elements whose text is not content. */
const droppedTags = new Set(
  "script style template noscript svg math canvas iframe object embed nav footer select textarea dialog head".split(
    " ",
  ),
);
const droppedRoles = new Set(
  "navigation banner contentinfo complementary search dialog alertdialog menu menubar".split(" "),
);
const prefixes =
  "[a-z]-|wy-|mw-|vector-|notion-|theme-(?:doc-)?|site-|page-|global-|main-|top-|blog-|post-|article-|entry-|docs?-|content-|mobile-|comments?-";
/** Ids and classes that many sites, wikis, shops and forums give to parts around their content; "_" reads as "-". */
const droppedNames = named(
  [
    "nav|navbar|navigation|sub-?nav|nav-links|menu|topbar|sidebar|widget-area|footer|print-?footer",
    "(?:top|left|right|main|side)-?(?:menu|nav|navigation)\\d?|site-?map-?path\\d?",
    "breadcrumbs?|breadcrumb-(?:list|nav|section|trail)|crumbs|pagination|pagination-nav|pager|prev-next",
    "toc|table-of-contents|toc-(?:macro|mobile|desktop)",
    "cookie-?(?:banner|bar|consent|notice|popup)|consent|cc-(?:window|banner)|onetrust-(?:banner|consent)-sdk|cybotcookiebotdialog",
    "skip-?link|jump-link|back-?(?:to|2)-?top|edit-?section|edit-this-page|version-badge",
    "share|sharing|share-?(?:bar|box|buttons|links)|sharedaddy|sd-sharing|social|social-?(?:icons|links|share|sharing)",
    "newsletter|newsletter-?(?:banner|box|form|popup|section|signup)|chat-?widget|mini-?cart",
    "related|related-?(?:articles|content|pages|posts|products|topics)|jp-relatedposts|upsells?|up-sells|cross-?sells?",
    "comments|comment-(?:form|list|respond)|comments-(?:area|section)",
    "catlinks|navbox|site-?notice|site-?sub|labels-section|likes-section",
    "post-?profile|post-buttons|jumpbox|online-list",
  ].join("|"),
);
/** Such parts ask for something: a vote, a visit, a purchase. */
const promptNames = named(
  [
    "feedback|feedback-(?:form|section|widget)|helpful|was-this-helpful|votes?|vote-section|(?:[a-z]+-)?reaction-picker|reactions",
    "(?:inline-)?promo|promo-(?:banner|bar|block|box|strip)|cta-(?:band|banner|bar|block|section)",
    "action-bar|signature|no-?print|d-print-none",
  ].join("|"),
);
/** The head of a site, which may hold the heading of the page. */
const headNames = /^(?:site-?|top-?)?(?:header|masthead)$/i;
const neverDropped = new Set(["html", "body", "main", "article", "h1", "h2", "h3", "h4", "h5", "h6"]);

const contentNames = /^(?:main-?content|page-?content|rst-content|kb-article|help-?article|doc-?content)$/i;
/** Such a part holds the text of one article from its first to its last word. */
const bodyNames =
  /^(?:post-?(?:content|body)|entry-?content|article-?(?:content|body|text)|markdown-body|theme-doc-markdown|mw-parser-output|td-content)$/i;
/** Notes and warnings beside the text belong to it. */
const calloutNames =
  /(?:^|[-_])(?:note|warning|caution|danger|tip|hint|info|important|attention|alert|notice|admonition|callout)(?:$|[-_])/i;
/** Hidden parts of a line are icons and labels; hidden parts of a page are closed accordions and tabs. */
const blockTags = new Set("div section p ul ol dl table article li dd details fieldset blockquote".split(" "));

type Attributes = Readonly<Record<string, string | undefined>>;

/** ASP.NET puts the names of the controls around an element before its own: "ctl00_TopMenu". */
const namesOf = (attributes: Attributes): string[] =>
  `${(attributes["id"] ?? "").replace(/^ctl\d{2}_(?:\w{1,200}_)?/, "")} ${attributes["class"] ?? ""}`
    .slice(0, 1_000)
    .replaceAll(/_+/g, "-")
    .split(/\s+/);

function named(names: string): RegExp {
  return new RegExp(`^(?:${prefixes})?(?:${names})$`, "i");
}

/**
 * `beside`: no content. The other kinds, but `content`, are decided at their end, by what they hold: a form around a page
 * is content, and so are a closed accordion, a warning in an `aside` and a long text below "Was this helpful?".
 */
export type Part = "content" | "beside" | "form" | "aside" | "hidden" | "header" | "prompt" | "button";

export function partOf(name: string, attributes: Attributes, isInContent: boolean): Part {
  if (droppedTags.has(name)) return "beside";
  if (name === "header") return isInContent ? "header" : "beside";
  const isHidden = attributes["aria-hidden"] === "true" || isHiddenBy(attributes["hidden"]);
  if (isHidden && !blockTags.has(name)) return "beside";
  if (neverDropped.has(name)) return isHidden ? "hidden" : "content";
  const names = namesOf(attributes);
  if (droppedRoles.has(attributes["role"] ?? "") || /^(?:prev|next)$/i.test(attributes["rel"] ?? "")) return "beside";
  if (names.some((each) => droppedNames.test(each))) {
    return isInContent && isSection(name, attributes) ? "aside" : "beside";
  }
  if (name === "aside") return isInContent || names.some((each) => calloutNames.test(each)) ? "aside" : "beside";
  if (name === "form" || name === "button") return name;
  if (attributes["role"] === "button" && isButton(name, attributes)) return "button";
  if (blockTags.has(name) && names.some((each) => promptNames.test(each))) return "prompt";
  if (name === "div" && !isInContent && names.some((each) => headNames.test(each))) return "header";
  return isHidden ? "hidden" : "content";
}

/** A link that leads to another page is read as a link. */
const isButton = (name: string, attributes: Attributes): boolean =>
  name === "div" ||
  (name === "a" && (opensContent(attributes) || /^(?:#|javascript:|$)/i.test(attributes["href"] ?? "")));

/** The browser's search finds what is hidden only until it is found. */
const isHiddenBy = (value: string | undefined): boolean => value !== undefined && value !== "until-found";

/** Documentation gives its sections the words of their headings as ids: "Sharing", "Navigation", "Signature". */
function isSection(name: string, attributes: Attributes): boolean {
  const classes = namesOf({ class: attributes["class"] });
  if (classes.some((each) => droppedNames.test(each))) return false;
  return name === "section" || classes.includes("section");
}

const openerNames = /(?:^|[-_])(?:accordion|collapsible|collapse|expander|faq|question|spoiler|toggle)(?:$|[-_])/i;
const menuNames = /nav|menu|search|sidebar|theme|dropdown/i;

/** Whether a button opens something that is read, such as an answer. Others act: copy, send, menu. */
export const opensContent = (attributes: Attributes): boolean =>
  namesOf(attributes).some((name) => openerNames.test(name) && !menuNames.test(name)) ||
  attributes["aria-expanded"] !== undefined ||
  attributes["aria-controls"] !== undefined ||
  attributes["role"] === "tab" ||
  Object.keys(attributes).some((name) =>
    /^data-(?:[\w-]{1,20}-)?(?:toggle|target|accordion|collapse|tab)\b/.test(name),
  );

/** `body`: the text of an article; `article`: an article with what is around its text. */
export type Mark = "none" | "content" | "article" | "body";

export function markOf(name: string, attributes: Attributes): Mark {
  const isBody = attributes["itemprop"] === "articleBody" || namesOf(attributes).some((each) => bodyNames.test(each));
  if (isBody) return "body";
  if (name === "article") return "article";
  return isContent(name, attributes) ? "content" : "none";
}

function isContent(name: string, attributes: Attributes): boolean {
  return (
    name === "main" ||
    attributes["role"] === "main" ||
    attributes["id"] === "content" ||
    namesOf(attributes).some((each) => contentNames.test(each))
  );
}
