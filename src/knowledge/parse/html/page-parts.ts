/** Elements whose text is not content. */
const droppedTags = new Set(
  "script style template noscript svg math canvas iframe object embed nav footer select textarea dialog head".split(
    " ",
  ),
);
const droppedRoles = new Set(
  "navigation banner contentinfo complementary search dialog alertdialog menu menubar".split(" "),
);
/** Ids and classes that many sites give to parts around their content. */
const droppedNames =
  /^(?:site-|page-|global-|main-|top-|blog-|post-)?(?:nav|navbar|navigation|menu|sidebar|footer|breadcrumbs?|pagination|pager|toc|table-of-contents|cookie-?(?:banner|bar|notice|consent)|consent|skip-?link|share|sharing|share-?(?:buttons|links)|social|social-?(?:links|icons|share)|newsletter|related|related-?(?:posts|articles)|comments|comment-list)$/i;
const neverDropped = new Set(["html", "body", "main", "article", "h1", "h2", "h3", "h4", "h5", "h6"]);

const contentTags = new Set(["main", "article"]);
const contentNames =
  /^(?:main-?content|page-?content|post-?(?:content|body)|entry-?content|article-?(?:content|body|text)|markdown-body|theme-doc-markdown|rst-content|td-content|kb-article|help-?article|doc-?content)$/i;
/** Notes and warnings beside the text belong to it. */
const calloutNames =
  /(?:^|[-_])(?:note|warning|caution|danger|tip|hint|info|important|attention|alert|notice|admonition|callout)(?:$|[-_])/i;
/** Hidden parts of a line are icons and labels; hidden parts of a page are closed accordions and tabs. */
const blockTags = new Set("div section p ul ol table article li dd details fieldset blockquote".split(" "));

type Attributes = Readonly<Record<string, string | undefined>>;

const namesOf = (attributes: Attributes): string[] =>
  `${attributes["id"] ?? ""} ${attributes["class"] ?? ""}`.slice(0, 1_000).split(/\s+/);

/**
 * `beside`: no content. The other kinds, but `content`, are decided at their end, by what they hold: a form around a page
 * is content, and so are a closed accordion and a warning in an `aside`.
 */
export type Part = "content" | "beside" | "form" | "aside" | "hidden" | "button";

export function partOf(name: string, attributes: Attributes, isInContent: boolean): Part {
  if (droppedTags.has(name)) return "beside";
  if (name === "header") return isInContent ? "content" : "beside";
  const isHidden = attributes["aria-hidden"] === "true" || isHiddenBy(attributes["hidden"]);
  if (isHidden && !blockTags.has(name)) return "beside";
  if (neverDropped.has(name)) return isHidden ? "hidden" : "content";
  const names = namesOf(attributes);
  if (droppedRoles.has(attributes["role"] ?? "") || names.some((each) => droppedNames.test(each))) return "beside";
  if (name === "aside") return isInContent || names.some((each) => calloutNames.test(each)) ? "aside" : "beside";
  if (name === "form" || name === "button") return name;
  return isHidden ? "hidden" : "content";
}

/** The browser's search finds what is hidden only until it is found. */
const isHiddenBy = (value: string | undefined): boolean => value !== undefined && value !== "until-found";

/** Whether a button opens something that is read, such as an answer. Others act: copy, send, menu. */
export const opensContent = (attributes: Attributes): boolean =>
  attributes["aria-expanded"] !== undefined ||
  attributes["aria-controls"] !== undefined ||
  attributes["role"] === "tab" ||
  Object.keys(attributes).some((name) =>
    /^data-(?:[\w-]{1,20}-)?(?:toggle|target|accordion|collapse|tab)\b/.test(name),
  );

export function isContent(name: string, attributes: Attributes): boolean {
  return (
    contentTags.has(name) ||
    attributes["role"] === "main" ||
    attributes["itemprop"] === "articleBody" ||
    attributes["id"] === "content" ||
    namesOf(attributes).some((each) => contentNames.test(each))
  );
}
