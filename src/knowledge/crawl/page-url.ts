const urlCharactersMax = 2_000;
/** Added to links to count who follows them; the page is the same without. */
const trackers = /^(?:utm_[a-z_]+|gclid|fbclid|msclkid|mc_[ce]id|_hs(?:enc|mi))$/i;
/** Files that hold no text that could be read. */
const unreadable =
  /\.(?:png|jpe?g|gif|webp|avif|svg|ico|bmp|tiff?|css|m?js|map|woff2?|ttf|eot|mp[34]|m4[av]|webm|ogg|wav|mov|avi|zip|gz|tgz|rar|7z|dmg|exe|msi|apk|iso|docx?|xlsx?|pptx?|rss|atom|ics)$/i;

/**
 * The address of a page as crawls compare them: absolute, without fragment and trackers. Null for what is none, or
 * what is a picture, a script or another file that is not read.
 */
export function pageUrl(href: string, base?: string): string | null {
  const url = URL.parse(href.trim(), base);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return null;
  if (url.username !== "" || url.password !== "") return null;
  url.hash = "";
  for (const name of Array.from(url.searchParams.keys())) if (trackers.test(name)) url.searchParams.delete(name);
  if (url.href.length > urlCharactersMax || unreadable.test(url.pathname)) return null;
  return url.href;
}
