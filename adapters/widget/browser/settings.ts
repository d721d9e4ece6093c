import type { BrowserStorage } from "./storage/browser-storage.ts";
import { createBrowserStorage } from "./storage/browser-storage.ts";
import type { Strings } from "./ui/strings.ts";
import { languageOf } from "./ui/strings.ts";

/** The `data-` attributes of the script element. */
export interface Settings {
  /** The folder that the script was loaded from, and everything else is loaded from. */
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

/** Undefined, and a line on the console, when the script element names no workspace. */
export function readSettings(script: HTMLScriptElement): Settings | undefined {
  const data = script.dataset;
  const workspace = data["workspace"];
  if (workspace === undefined || workspace === "") {
    console.error("[parley] The script element needs data-workspace, the id of a workspace.");
    return undefined;
  }
  const mode = data["mode"] === "page" ? "page" : "bubble";
  // The hosted page has no language of its own.
  const pageLang = mode === "page" ? languageOf(navigator.languages) : document.documentElement.lang;
  return {
    base: new URL(".", script.src),
    workspace,
    channel: data["channel"] === "hosted" ? "hosted" : "widget",
    mode,
    side: data["side"] === "left" ? "left" : "right",
    theme: data["theme"] === "light" || data["theme"] === "dark" ? data["theme"] : "auto",
    lang: data["lang"] || pageLang || navigator.language,
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

/** The user that a token names; the server checks the token. Undefined, and a line on the console, for an invalid one. */
export function userOf(token: string): string | undefined {
  try {
    const bytes = atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/"));
    const { sub } = JSON.parse(new TextDecoder().decode(Uint8Array.from(bytes, (each) => each.charCodeAt(0)))) as {
      readonly sub?: unknown;
    };
    if (typeof sub === "string" && sub !== "") return sub;
  } catch {
    // Reported below.
  }
  console.error("[parley] The user token is not a JWT with a sub; the visitor is anonymous.");
  return undefined;
}

/**
 * The user token that a link to the chat page has after `#`, where no server sees it. It is removed from the address, and
 * stored for reloads of this tab.
 */
function handedToken(workspace: string): string | undefined {
  const storage = tokenStorage(workspace);
  const [, handed] = /^#user_token=([\w.-]+)$/.exec(location.hash) ?? [];
  if (handed !== undefined) {
    history.replaceState(history.state, "", location.pathname + location.search);
    storage.write("user_token", handed);
  }
  const token = storage.read("user_token");
  return typeof token === "string" ? token : undefined;
}

/** Called when the token has expired: the customer is anonymous after a reload. */
export const forgetHandedToken = ({ workspace }: Settings): void =>
  tokenStorage(workspace).write("user_token", undefined);

const tokenStorage = (workspace: string): BrowserStorage =>
  createBrowserStorage(`parley:${workspace}:`, "sessionStorage");

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
    // Reported below, like any value that is not an object.
  }
  console.error("[parley] data-strings is not a JSON object of texts; the built-in texts are used.");
  return {};
}
