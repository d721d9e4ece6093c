const urlCharactersMax = 2_000;
/** Parameters that only count visits. */
const trackers = /^(?:utm_[a-z_]+|gclid|fbclid|msclkid|mc_[ce]id|_hs(?:enc|mi))$/i;
/** Files without readable text. */
const unreadable =
  /\.(?:png|jpe?g|gif|webp|avif|svg|ico|bmp|tiff?|css|m?js|map|woff2?|ttf|eot|mp[34]|m4[av]|webm|ogg|wav|mov|avi|zip|gz|tgz|rar|7z|dmg|exe|msi|apk|iso|docx?|xlsx?|pptx?|rss|atom|ics)$/i;

/**
 * The address of a page in the form in which crawls compare addresses: absolute, without fragment and tracking
 * parameters. Null for other addresses, and for files that are not read.
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
