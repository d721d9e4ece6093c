/** A TwiML verb with its text and children. */
export interface Verb {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly text: string;
  readonly children: readonly Verb[];
}

type Check = (value: string) => boolean;

const bool: Check = (value) => value === "true" || value === "false";
const post: Check = (value) => value === "POST" || value === "GET";
const address: Check = (value) => URL.canParse(value) && /^https?:/.test(value);
const whole =
  (min: number, max: number): Check =>
  (value) =>
    /^[0-9]+$/.test(value) && Number(value) >= min && Number(value) <= max;
const language: Check = (value) => /^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,2}$/.test(value);

/** The verbs in use, with the attributes and children that Twilio accepts. */
const verbs: Readonly<
  Record<string, { readonly may: readonly string[]; readonly text?: true; readonly attributes: Record<string, Check> }>
> = {
  Response: { may: ["Say", "Gather", "Pause", "Redirect", "Dial", "Record", "Hangup"], attributes: {} },
  Say: { may: [], text: true, attributes: { voice: (value) => value !== "", language, loop: whole(0, 1_000) } },
  Pause: { may: [], attributes: { length: whole(1, 600) } },
  Redirect: { may: [], text: true, attributes: { method: post } },
  Hangup: { may: [], attributes: {} },
  Gather: {
    may: ["Say", "Pause"],
    attributes: {
      action: address,
      method: post,
      input: (value) => value.split(" ").every((each) => each === "speech" || each === "dtmf"),
      timeout: whole(1, 600),
      // "auto" causes a warning with some speech models; a number works with all.
      speechTimeout: whole(1, 60),
      finishOnKey: (value) => /^[0-9*#]?$/.test(value),
      numDigits: whole(1, 100),
      actionOnEmptyResult: bool,
      bargeIn: bool,
      language,
    },
  },
  Dial: {
    may: ["Number"],
    text: true,
    attributes: { action: address, method: post, timeout: whole(5, 600), answerOnBridge: bool },
  },
  Number: { may: [], text: true, attributes: { url: address, method: post } },
  Record: {
    may: [],
    attributes: {
      action: address,
      method: post,
      maxLength: whole(1, 14_400),
      timeout: whole(0, 600),
      finishOnKey: (value) => /^[0-9*#]$/.test(value),
      playBeep: bool,
      transcribe: bool,
      transcribeCallback: address,
      recordingStatusCallback: address,
      recordingStatusCallbackMethod: post,
    },
  },
};

const bytesMax = 64 * 1_024;
const sayMax = 4_096;

/** Throws on TwiML that would end the call at Twilio. */
export function parseTwiml(text: string): readonly Verb[] {
  if (Buffer.byteLength(text) > bytesMax) throw new Error("TwiML holds at most 64 KB");
  const body = text.replace(/^<\?xml version="1\.0" encoding="UTF-8"\?>\s*/i, "");
  const tokens = body.match(/<[^<>]*>|[^<>]+/gu) ?? [];
  if (tokens.join("") !== body) throw new Error("this is not XML");
  interface Open {
    readonly name: string;
    readonly attributes: Record<string, string>;
    text: string;
    readonly children: Verb[];
  }
  const root: Open = { name: "", attributes: {}, text: "", children: [] };
  const open: Open[] = [root];
  for (const token of tokens) {
    const within = open.at(-1) ?? root;
    if (!token.startsWith("<")) {
      within.text += unescaped(token);
      continue;
    }
    const end = /^<\/([A-Za-z]+)>$/.exec(token)?.[1];
    if (end !== undefined) {
      if (open.pop()?.name !== end) throw new Error(`${token} closes nothing`);
      finish(within, open.at(-1) ?? root);
      continue;
    }
    const start = /^<([A-Za-z]+)((?: [A-Za-z]+="[^"<>]*")*)(\/?)>$/.exec(token);
    if (start === null) throw new Error(`this is not XML: ${token}`);
    const [, name = "", given = "", closed] = start;
    const made: Open = { name, attributes: {}, text: "", children: [] };
    for (const [, key = "", value = ""] of given.matchAll(/ ([A-Za-z]+)="([^"]*)"/g)) {
      if (Object.hasOwn(made.attributes, key)) throw new Error(`${key} stands twice in ${token}`);
      made.attributes[key] = unescaped(value);
    }
    if (closed === "/") finish(made, within);
    else open.push(made);
  }
  const [response] = root.children;
  if (open.length !== 1 || root.children.length !== 1 || response?.name !== "Response" || root.text.trim() !== "") {
    throw new Error("TwiML is one Response");
  }
  return response.children;
}

function finish({ name, attributes, text, children }: Verb, into: { readonly children: readonly Verb[] }): void {
  const rule = verbs[name];
  if (rule === undefined) throw new Error(`Twilio knows no verb ${name}`);
  for (const [key, value] of Object.entries(attributes)) {
    if (rule.attributes[key]?.(value) !== true) throw new Error(`${name} takes no ${key}="${value}"`);
  }
  for (const child of children) if (!rule.may.includes(child.name)) throw new Error(`${name} holds no ${child.name}`);
  if (rule.text !== true && text.trim() !== "") throw new Error(`${name} holds no text`);
  if (name === "Say" && (text.trim() === "" || text.length > sayMax)) throw new Error(`Say holds 1 to ${sayMax} signs`);
  if (name === "Redirect" && !address(text)) throw new Error("Redirect leads nowhere");
  if ((name === "Number" || (name === "Dial" && children.length === 0)) && !/^\+[1-9][0-9]{6,14}$/.test(text)) {
    throw new Error(`${name} calls no number`);
  }
  if (name === "Record" && attributes["transcribe"] === "true" && Number(attributes["maxLength"]) > 120) {
    throw new Error("Twilio writes down messages of up to two minutes");
  }
  (into.children as Verb[]).push({ name, attributes, text, children });
}

const entities: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function unescaped(text: string): string {
  if (/[^\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]/u.test(text))
    throw new Error("a sign that XML has not");
  return text.replaceAll(/&(#x[0-9a-fA-F]+|#[0-9]+|[a-z]*);?/g, (whole_, name: string) => {
    if (name.startsWith("#x")) return String.fromCodePoint(Number.parseInt(name.slice(2), 16));
    if (name.startsWith("#")) return String.fromCodePoint(Number(name.slice(1)));
    const sign = entities[name];
    if (sign === undefined || !whole_.endsWith(";")) throw new Error(`this is not XML: ${whole_}`);
    return sign;
  });
}
