/** Every text of ours that a customer can see. `{name}` and `{count}` are filled in. */
export const english = {
  open: "Open chat",
  close: "Close chat",
  unread: "{count} unread",
  dialog: "Chat: {name}",
  log: "Messages",
  placeholder: "Write a message…",
  send: "Send message",
  answersNow: "Answers from our documentation",
  waiting: "Waiting for a person to join",
  agentHere: "{name} is helping you",
  agentUnnamed: "A person is helping you",
  you: "You",
  agent: "Support",
  typing: "{name} is typing…",
  sources: "Sources",
  related: "Perhaps related",
  newTab: "opens in a new tab",
  sending: "Sending…",
  notSent: "Not sent.",
  retry: "Try again",
  tooLong: "Too long: please write at most {count} characters.",
  limited: "Too many messages at once. Please wait a moment.",
  offline: "You are offline. What you write is sent when you are back.",
  connecting: "Connecting…",
  refused: "The chat is not available on this page.",
  newMessages: "New messages",
  left: "{count} characters left",
  leadTitle: "Where can we reach you?",
  leadText: "Leave your e-mail address in case you close this page before someone replies.",
  name: "Name (optional)",
  email: "E-mail address",
  save: "Save",
  notNow: "Not now",
  emailInvalid: "Please enter a valid e-mail address.",
  leadFailed: "That could not be saved. Please try again.",
  leadSaved: "Thank you, we have your address.",
  attach: "Attach a file",
  removeFile: "Remove {name}",
  uploading: "Uploading {name}",
  fileTooLarge: "Too large: at most {count} MB.",
  fileType: "This kind of file cannot be sent here.",
  fileFailed: "Could not be sent. Please try again.",
  earlier: "Earlier messages",
  filesMax: "Too many: at most {count} files in a message.",
  fileQuota: "You have sent many files today. Please send this one tomorrow.",
  storageFull: "Files cannot be taken at the moment. Please try again later.",
  expired: "Your sign-in has expired. Please reload the page.",
  ended: "Resolved",
  endedText: "This conversation is resolved. You can write again at any time.",
  filesGone: "Not sent: attached files are removed after an hour. Please attach them again.",
};

export type Strings = typeof english;

export const keys = Object.keys(english) as readonly (keyof Strings)[];

/** There are texts in these; those of the others than English are fetched from the server. */
export const languages: readonly string[] = ["en", "de", "fr", "es", "it", "pt", "nl", "ja", "ar", "he", "fa", "ur"];

/** The first of these that there are texts in. */
export const languageOf = (wanted: readonly string[]): string =>
  wanted.find((lang) => languages.includes(primary(lang))) ?? "en";

/** Languages that are written from right to left, also those that there are no texts in. */
export const isRightToLeft = (lang: string): boolean =>
  /^(?:ar|fa|he|iw|ur|ps|yi|ji|dv|ckb|sd|ug)$/u.test(primary(lang));

const primary = (lang: string): string => lang.toLowerCase().split(/[-_]/u)[0] ?? "";

const fetchTimeoutMs = 3_000;

/** The texts of a language tag (`de-AT` is `de`); English where there are none, and the page's own above all. */
export async function stringsFor(
  lang: string,
  own: Readonly<Partial<Record<string, string>>>,
  base: URL,
): Promise<Strings> {
  const language = primary(lang);
  const isKnown = language !== "en" && languages.includes(language);
  const translated = isKnown ? await fetched(new URL(`widget/texts/${language}.json`, base)) : {};
  const strings = { ...english };
  // A server of a newer or older version may have other names.
  for (const key of keys) strings[key] = own[key] ?? translated[key] ?? english[key];
  return strings;
}

async function fetched(url: URL): Promise<Partial<Strings>> {
  try {
    const response = await fetch(url, { credentials: "omit", signal: AbortSignal.timeout(fetchTimeoutMs) });
    if (response.ok) return (await response.json()) as Partial<Strings>;
  } catch {
    // Told below; English can be used.
  }
  console.error(`[parley] ${url.href} could not be loaded; the texts are English.`);
  return {};
}

export function fill(text: string, value: string | number): string {
  // A Latin name would otherwise turn the order of the words around it.
  const isolated = /[\u0590-\u08ff]/u.test(text) && typeof value === "string" ? `\u2068${value}\u2069` : String(value);
  return text.replace(/\{(?:name|count)\}/u, () => isolated);
}
