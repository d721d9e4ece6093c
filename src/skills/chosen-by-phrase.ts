import { wordsIn } from "#language/words/phrases.ts";
import type { Skill, SkillArgument } from "#domain/workspace/skill.ts";
import type { ArgumentValue, ArgumentValues } from "./skill-arguments.ts";
import { argumentValue } from "./skill-arguments.ts";

export type Choice =
  | { readonly kind: "call"; readonly skill: Skill; readonly values: ArgumentValues }
  /** The customer must be asked for an argument first. */
  | { readonly kind: "ask"; readonly skill: Skill; readonly ask: string };

export interface Said {
  readonly role: string;
  readonly content: string;
}

/** Longer messages are not matched with phrases. */
const charactersMax = 2_000;

/** A text's tokens between spaces, and its words, in order. */
interface Text {
  readonly tokens: readonly string[];
  readonly words: readonly { readonly word: string; readonly token: number }[];
}

type Item = { readonly kind: "word"; readonly word: string } | { readonly kind: "argument"; readonly name: string };

/**
 * The skill that a message requests by one of its phrases, or by answering a skill's question. Phrases are compared word by
 * word and arguments by shape, in bounded time for any text.
 */
export function chosenByPhrase(skills: readonly Skill[], text: string, history: readonly Said[]): Choice | undefined {
  if (text.length > charactersMax) return undefined;
  const read = readText(text);
  for (const skill of skills) {
    for (const phrase of skill.phrases) {
      const values = matched(skill, itemsOf(phrase), read);
      const choice = values === undefined ? undefined : complete(skill, values, read);
      if (choice !== undefined) return choice;
    }
  }
  return answersAsked(skills, text, read, history);
}

function readText(text: string): Text {
  const tokens = text.split(/\s+/u).filter((token) => token !== "");
  const words = tokens.flatMap((each, token) => wordsIn(each).words.map((word) => ({ word, token })));
  return { tokens, words };
}

function itemsOf(phrase: string): Item[] {
  return phrase
    .split(/(\{[^{}]*\})/u)
    .flatMap((part): Item[] =>
      part.startsWith("{")
        ? [{ kind: "argument", name: part.slice(1, -1) }]
        : wordsIn(part).words.map((word) => ({ kind: "word", word })),
    );
}

/** The arguments in the phrase's placeholders; undefined where the text does not contain the phrase. */
function matched(skill: Skill, items: readonly Item[], text: Text): Record<string, ArgumentValue> | undefined {
  for (let start = 0; start < text.words.length; start += 1) {
    const values = matchedAt(skill, items, text, start);
    if (values !== undefined) return values;
  }
  return undefined;
}

function matchedAt(
  skill: Skill,
  items: readonly Item[],
  { tokens, words }: Text,
  start: number,
): Record<string, ArgumentValue> | undefined {
  const values: Record<string, ArgumentValue> = {};
  let at = start;
  for (const item of items) {
    const here = words[at];
    if (here === undefined) return undefined;
    if (item.kind === "word") {
      if (here.word !== item.word) return undefined;
      at += 1;
      continue;
    }
    const argument = skill.arguments.find(({ name }) => name === item.name);
    const found = argument === undefined ? undefined : valueAt(skill, argument, tokens, here.token);
    if (found === undefined) return undefined;
    values[item.name] = found.value;
    const next = words.findIndex(({ token }) => token > found.last);
    at = next === -1 ? words.length : next;
  }
  return values;
}

/** A value that begins at this token. Its number of tokens follows from the spaces in its shapes. */
function valueAt(
  skill: Skill,
  argument: SkillArgument,
  tokens: readonly string[],
  from: number,
): { readonly value: ArgumentValue; readonly last: number } | undefined {
  const spaces = Math.max(0, ...(argument.shapes ?? argument.choices ?? []).map((each) => each.split(" ").length - 1));
  for (let more = spaces; more >= 0; more -= 1) {
    const raw = tokens.slice(from, from + more + 1).join(" ");
    for (const candidate of [bare(raw), raw]) {
      const value = argumentValue(skill, argument, candidate);
      if (value !== undefined) return { value, last: from + more };
    }
  }
  return undefined;
}

/** Removes surrounding punctuation. */
const bare = (token: string): string => token.replace(/^[#("'“„«[]{1,5}/u, "").replace(/[.,;:!?)"'”“»\]]{1,5}$/u, "");

/** Searches the whole text for missing arguments, or asks for them. */
function complete(skill: Skill, values: Record<string, ArgumentValue>, text: Text): Choice | undefined {
  for (const argument of skill.arguments) {
    if (Object.hasOwn(values, argument.name)) continue;
    const found = findIn(skill, argument, text);
    if (found !== undefined) values[argument.name] = found;
    else if (!argument.optional) {
      return argument.ask === undefined ? undefined : { kind: "ask", skill, ask: argument.ask };
    }
  }
  return { kind: "call", skill, values };
}

/** Finds only arguments that differ from other words by their form. */
function findIn(skill: Skill, argument: SkillArgument, { tokens }: Text): ArgumentValue | undefined {
  if (argument.shapes === undefined && argument.choices === undefined) return undefined;
  for (let at = 0; at < tokens.length; at += 1) {
    const found = valueAt(skill, argument, tokens, at);
    if (found !== undefined) return found.value;
  }
  return undefined;
}

/** Whether this message answers the bot's question for an argument. */
function answersAsked(
  skills: readonly Skill[],
  text: string,
  read: Text,
  history: readonly Said[],
): Choice | undefined {
  const last = history.findLastIndex(({ role }) => role === "assistant");
  const question = history[last];
  // An agent or the customer has written since.
  if (question === undefined || last !== history.length - 1) return undefined;
  const before = history.slice(0, last).findLast(({ role }) => role === "user")?.content ?? "";
  for (const skill of skills) {
    const asked = skill.arguments.find(({ ask }) => ask !== undefined && ask === question.content);
    if (asked === undefined) continue;
    const value = findIn(skill, asked, read) ?? argumentValue(skill, asked, bare(text.trim()));
    if (value === undefined) return undefined;
    const earlier = before.length > charactersMax ? readText("") : readText(before);
    const given = skill.phrases
      .map((phrase) => matched(skill, itemsOf(phrase), earlier))
      .find((each) => each !== undefined);
    const whole: Text = readText(`${earlier.tokens.join(" ")} ${text}`);
    return complete(skill, { ...given, [asked.name]: value }, whole);
  }
  return undefined;
}
