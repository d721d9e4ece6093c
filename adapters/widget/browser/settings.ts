import type { Keep } from "./storage.ts";
import { createKeep } from "./storage.ts";
import type { Strings } from "./ui/strings.ts";
import { languageOf } from "./ui/strings.ts";

/** What the page that embeds the widget says, in `data-` attributes of the script element. */
export interface Settings {
  /** Where the script came from, without its file name: everything else is there too. */
  readonly base: URL;
  readonly workspace: string;
  readonly channel: "widget" | "hosted";
  /** `page` fills the window; `bubble` opens from a button. */
  readonly mode: "bubble" | "page";
  readonly side: "left" | "right";
  readonly theme: "light" | "dark" | "auto";
  readonly lang: string;
  readonly color: string | undefined;
  readonly identity: Identity | undefined;
  readonly strings: Readonly<Partial<Record<keyof Strings, string>>>;
}

export interface Identity {
  readonly user_id: string;
  readonly hash?: string;
  readonly user_token?: string;
  readonly name?: string;
  readonly email?: string;
}

/** Undefined, and a line on the console, where the script element does not name a workspace. */
export function readSettings(script: HTMLScriptElement): Settings | undefined {
  const data = script.dataset;
  const workspace = data["workspace"];
  if (workspace === undefined || workspace === "") {
    console.error("[parley] The script element needs data-workspace, the id of a workspace.");
    return undefined;
  }
  const mode = data["mode"] === "page" ? "page" : "bubble";
  // A page of ours has no language of its own: it takes the visitor's.
  const ofPage = mode === "page" ? languageOf(navigator.languages) : document.documentElement.lang;
  return {
    base: new URL(".", script.src),
    workspace,
    channel: data["channel"] === "hosted" ? "hosted" : "widget",
    mode,
    side: data["side"] === "left" ? "left" : "right",
    theme: data["theme"] === "light" || data["theme"] === "dark" ? data["theme"] : "auto",
    lang: data["lang"] || ofPage || navigator.language,
    color: data["color"],
    identity: identityOf(data, mode === "page" ? handedToken(workspace) : undefined),
    strings: stringsOf(data["strings"]),
  };
}

function identityOf(data: DOMStringMap, handed: string | undefined): Identity | undefined {
  const { userHash, userName, userEmail, userToken = handed } = data;
  const userId = userToken ? userOf(userToken) : data["userId"];
  if (!userId || !(userToken || userHash)) return undefined;
  return {
    user_id: userId,
    ...(userToken ? { user_token: userToken } : userHash ? { hash: userHash } : {}),
    ...(userName ? { name: userName } : {}),
    ...(userEmail ? { email: userEmail } : {}),
  };
}

/** Whose token this is, unchecked: the server checks it. Undefined, and a line on the console, where it is none. */
export function userOf(token: string): string | undefined {
  try {
    const bytes = atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    const { sub } = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (each) => each.charCodeAt(0)))) as {
      readonly sub?: unknown;
    };
    if (typeof sub === "string" && sub !== "") return sub;
  } catch {
    // Told below.
  }
  console.error("[parley] The user token is not a JWT with a sub; the visitor is anonymous.");
  return undefined;
}

/**
 * The token that a link to the chat page has brought behind `#`, which no server sees; it goes out of the address, and
 * is kept for reloads of this tab.
 */
function handedToken(workspace: string): string | undefined {
  const keep = tokenKeep(workspace);
  const [, handed] = /^#user_token=([\w.-]+)$/.exec(location.hash) ?? [];
  if (handed !== undefined) {
    history.replaceState(history.state, "", location.pathname + location.search);
    keep.write("user_token", handed);
  }
  const token = keep.read("user_token");
  return typeof token === "string" ? token : undefined;
}

/** Once it has expired, the page is a visitor's again after a reload. */
export const forgetHandedToken = ({ workspace }: Settings): void => tokenKeep(workspace).write("user_token", undefined);

const tokenKeep = (workspace: string): Keep => createKeep(`parley:${workspace}:`, "sessionStorage");

function stringsOf(json: string | undefined): Record<string, string> {
  if (json === undefined) return {};
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null) {
      return Object.fromEntries(
        Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
      );
    }
  } catch {
    // Told below, as for any other value that is no object.
  }
  console.error("[parley] data-strings is not a JSON object of texts; the built-in texts are used.");
  return {};
}
