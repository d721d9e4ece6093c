import type { CannedKey, VoiceTextKey, WidgetTextKey } from "./text-keys.ts";

/** Languages that the bot writes and understands. */
export const spokenLanguages = [
  "en",
  "de",
  "fr",
  "es",
  "it",
  "pt",
  "nl",
  "sv",
  "da",
  "nb",
  "fi",
  "ru",
  "ja",
  "zh",
  "ko",
  "ar",
  "he",
  "fa",
  "ur",
  "tr",
] as const;
export type SpokenLanguage = (typeof spokenLanguages)[number];

/** Codes of all languages with a file in `locales/`. */
export const localeCodes = [...spokenLanguages, "pl"] as const;
export type LocaleCode = (typeof localeCodes)[number];

/**
 * All words of one language: what Parley says in it, and what it recognises in customers' messages. Texts are null where
 * the language has no translation yet; English is shown instead. Words in a list are separated by spaces, phrases by "|";
 * both are empty where the language has none. Names ending in `Pattern`, and phrases, are parts of regular expressions.
 */
export interface Locale {
  /** Sentences of the bot. `{bot}` is its name; `{time}`, `{day}`, `{timezone}` and `{language}` are filled in. */
  readonly bot: Readonly<Record<CannedKey, string>> | null;
  /** Texts of the website widget. `{name}` and `{count}` are filled in. */
  readonly widget: Readonly<Record<WidgetTextKey, string>> | null;
  /** Sentences of phone calls. `{bot}` is the bot's name, `{name}` an agent's. */
  readonly voice: VoiceTexts | null;

  /** Words of questions without a subject of their own, besides those of the stop word package. */
  readonly stopWords: string;
  /** Words of nearly every document. */
  readonly documentWords: string;
  /** Articles, pronouns, prepositions and auxiliaries, without accents. */
  readonly functionWords: string;
  readonly spelling: Spelling;
  readonly questions: Questions;
  readonly followUp: FollowUp;
  readonly clauses: Clauses;
  /** Words that turn a statement into its opposite, without accents and apostrophes. */
  readonly negations: string;
  /** Number words without another meaning, without accents. */
  readonly numbers: Readonly<Record<string, number>>;

  readonly courtesies: Courtesies;
  /** Phrases of answers that need no source: greetings, transitions, closings. */
  readonly pleasantries: readonly string[];
  readonly letters: Letters;
  readonly handover: Handover;
  readonly denial: Denial;
  readonly anger: Anger;
  readonly references: References;
  readonly unfinished: Unfinished;
  /** Questions about opening hours. */
  readonly openingHours: readonly string[];
  /** Wishes of callers to get links by text message. */
  readonly linkBySms: readonly string[];
}

export interface Spelling {
  /** Characters that only some languages have. */
  readonly signs: RegExp | null;
  /** Endings that are often typed without accents, and their spelling. */
  readonly restored: readonly (readonly [RegExp, string])[];
  /** Writes an article or preposition before an apostrophe: "l'article", "dell'ordine". */
  readonly elides: boolean;
}

export interface Questions {
  /** Joins a further question to one in a sentence; phrases. */
  readonly and: string;
  /** Words that begin a question. */
  readonly asks: string;
  /** Words before the beginning of a question. */
  readonly opens: string;
  /** Verbs of an indirect question's introduction; phrases. */
  readonly tells: string;
  /** Words that begin an indirect question; phrases. */
  readonly indirect: string;
  /** "whether" and "if"; phrases. */
  readonly whether: string;
  /** Phrases around a question that ask for nothing. */
  readonly preambles: readonly string[];
}

/** Phrases. */
export interface FollowUp {
  /** Begin a question that continues the previous one. */
  readonly continuing: string;
  /** Refer to the subject of the previous question, anywhere in this one. */
  readonly pointing: string;
  /** Do so at the end of the question only. */
  readonly final: string;
  /** Ask for a duration or a price, without naming a subject. */
  readonly measuring: string;
}

export interface Clauses {
  /** "but" and its like. */
  readonly contrasts: string;
  readonly conjunctions: string;
  /** Join two numbers: "3 to 5". */
  readonly ranges: string;
  /** Begin a clause that refers to the one before. */
  readonly leaning: string;
  /** Make a clause refer to the one before wherever they are. */
  readonly pronouns: string;
}

/** Phrases. English has words, which may be combined in any order. */
export interface Courtesies {
  readonly hello: string;
  readonly thanks: string;
  readonly goodbye: string;
  /** May accompany them. */
  readonly beside: string;
}

/** Phrases above and below what a letter asks. */
export interface Letters {
  readonly salutations: string;
  readonly closings: string;
}

/** A customer's wish for a person. Words are without accents and apostrophes. */
export interface Handover {
  /** Verbs of talking, which need a person after them. */
  readonly talk: string;
  /** Verbs that need a person before them. */
  readonly talkLast: string;
  /** Wishes to be passed to a person, which follows; phrases. */
  readonly transfer: string;
  /** Wishes for one of `persons`, which follows; phrases. */
  readonly want: string;
  /** Persons that are a request only with such a verb. */
  readonly staff: string;
  /** Are a request by themselves; phrases. */
  readonly idioms: string;
  /** Begin a clause that asks about a person instead of for one; phrases. */
  readonly asks: string;
  /** For scripts without spaces: a regular expression. */
  readonly unspaced: string;
  /** Words that are a request by themselves: "Human!". */
  readonly persons: string;
  /** Words that may accompany them. */
  readonly beside: string;
  /** Negate a request that follows shortly after them. */
  readonly negations: string;
  /** Negate a request that precedes them. */
  readonly trailing: string;
  /** Words after which an earlier negation no longer applies. */
  readonly clauses: string;
  /** Begin a new request; phrases. */
  readonly wishes: string;
  /** Are a new request anywhere in a clause. */
  readonly wishVerbs: string;
  readonly whys: string;
  readonly cans: string;
  readonly pronouns: string;
}

/** A sentence that refuses a person: "I don't want a human". */
export interface Denial {
  readonly persons: string;
  readonly negations: string;
  /** All other words of such sentences. */
  readonly others: string;
  /** Join it to the question. */
  readonly joins: string;
  /** Begin it after the question. */
  readonly without: string;
  /** For scripts without spaces: a regular expression. */
  readonly pattern: string;
}

/** Words of angry messages, by weight, without accents. */
export interface Anger {
  /** Sarcasm, ultimatums and contempt for the company: phrases, as part of a regular expression. */
  readonly phrases: string;
  /** For scripts without spaces: a regular expression. */
  readonly unspaced: string;
  readonly strong: string;
  readonly medium: string;
  readonly mild: string;
  readonly negations: string;
}

/** Phrases around a reference number: "My order number is 123". */
export interface References {
  /** Things that have a number; word endings are left open. */
  readonly things: string;
  readonly numbers: string;
  /** "my", after the thing. */
  readonly owned: string;
  readonly being: string;
  /** "my", before the thing. */
  readonly mine: string;
}

/** Short messages that the customer's next message completes. All without accents and apostrophes. */
export interface Unfinished {
  /** Messages that announce a question; phrases. */
  readonly announces: string;
  /** Words after which a sentence continues: articles, possessives, conjunctions. */
  readonly continues: string;
  /** Words that begin a part of a sentence: "about the widget". */
  readonly begins: string;
  /** Beginnings of questions, without what is asked about: "how do I change"; phrases. */
  readonly lacksObject: string;
  /** Words of statements, which often precede a question. */
  readonly states: string;
  /** Words that begin a request, which is complete. */
  readonly requests: string;
}

export type VoiceTexts = Readonly<Record<VoiceTextKey, string>>;
