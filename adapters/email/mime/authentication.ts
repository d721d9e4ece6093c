import type { Mail } from "./mail.ts";
import { headersNamed } from "./mail.ts";

/** The receiving server's DMARC result for the sender's domain. */
export type Verdict =
  | "pass"
  | "fail"
  /** The domain has no policy, or the check failed. */
  | "none"
  /** No trusted server has checked the mail. */
  | "unchecked";

/** The setting for Exchange Online, whose results name no server. */
const microsoft365 = "microsoft-365";

/**
 * Returns the verdict of the trusted server. Only its topmost field counts: the server adds it above the sender's headers,
 * which may be forged. Servers that add such fields remove foreign ones with their name.
 */
export function verdictOf(mail: Pick<Mail, "headers" | "from">, trusted: string | undefined): Verdict {
  if (trusted === undefined) return "unchecked";
  for (const value of headersNamed(mail, "authentication-results")) {
    const { server, results } = parse(value);
    const named = trusted === microsoft365 ? server === "" : server === trusted.toLowerCase();
    if (!named) continue;
    const dmarc = results.find(({ method }) => method === "dmarc");
    if (dmarc === undefined) return "none";
    if (dmarc.result === "fail") return "fail";
    if (dmarc.result !== "pass") return "none";
    // A verdict holds for its domain and subdomains only.
    const checked = dmarc.domain;
    const own = mail.from?.address.split("@").at(-1)?.toLowerCase();
    if (checked !== undefined && own !== undefined && own !== checked && !own.endsWith(`.${checked}`)) return "none";
    return "pass";
  }
  return "unchecked";
}

interface Result {
  readonly method: string;
  readonly result: string;
  /** `header.from`. */
  readonly domain: string | undefined;
}

function parse(value: string): { readonly server: string; readonly results: readonly Result[] } {
  const [first = "", ...rest] = withoutComments(value.slice(0, 20_000)).split(";");
  const hasServer = !first.includes("=");
  const server = hasServer ? (first.trim().split(/\s+/)[0]?.toLowerCase() ?? "") : "";
  const results = (hasServer ? rest : [first, ...rest]).flatMap((part): Result[] => {
    const words = part.trim().split(/\s+/);
    const [method, result] = (words[0] ?? "").toLowerCase().split("=");
    if (method === undefined || result === undefined) return [];
    const from = words.find((word) => /^header\.from=/i.test(word));
    const domain = from?.slice("header.from=".length).replaceAll('"', "").split("@").at(-1)?.toLowerCase();
    return [{ method: method.split("/")[0] ?? "", result, domain }];
  });
  return { server, results };
}

/** Removes comments, which are parentheses and may be nested: their content must not count as a result. */
function withoutComments(value: string): string {
  let depth = 0;
  let quoted = false;
  let text = "";
  for (let at = 0; at < value.length; at += 1) {
    const sign = value.charAt(at);
    if (sign === "\\") {
      if (depth === 0) text += value.charAt(at + 1);
      at += 1;
      continue;
    }
    if (sign === '"' && depth === 0) quoted = !quoted;
    if (sign === "(" && !quoted) depth += 1;
    else if (sign === ")" && !quoted) depth = Math.max(0, depth - 1);
    // A semicolon in quotes must not start a new result.
    else if (depth === 0) text += quoted && sign === ";" ? " " : sign;
  }
  return text;
}
