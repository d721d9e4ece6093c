/** Elements whose text is not content. */
const droppedTags = new Set(
  "script style template noscript svg math canvas iframe object embed nav header footer aside form button select textarea dialog head".split(
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

type Attributes = Readonly<Record<string, string | undefined>>;

const namesOf = (attributes: Attributes): string[] =>
  `${attributes["id"] ?? ""} ${attributes["class"] ?? ""}`.slice(0, 1_000).split(/\s+/);

export function isBesideContent(name: string, attributes: Attributes): boolean {
  if (droppedTags.has(name) || attributes["hidden"] !== undefined || attributes["aria-hidden"] === "true") return true;
  if (neverDropped.has(name)) return false;
  return droppedRoles.has(attributes["role"] ?? "") || namesOf(attributes).some((each) => droppedNames.test(each));
}

export function isContent(name: string, attributes: Attributes): boolean {
  return (
    contentTags.has(name) ||
    attributes["role"] === "main" ||
    attributes["itemprop"] === "articleBody" ||
    attributes["id"] === "content" ||
    namesOf(attributes).some((each) => contentNames.test(each))
  );
}
