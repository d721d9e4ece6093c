/** Sentences of the bot that a workspace can replace for all languages. */
export interface DefaultTexts {
  readonly handoverMessage: string;
  /** What the bot says when a look-up could not be made. */
  readonly lookupFailedMessage: string;
  /** What the bot says when it is not known whether a call that changes something was carried out. */
  readonly lookupUnsureMessage: string;
  /** What the bot says when a look-up is for verified customers only, and this one is not. */
  readonly lookupUnverifiedMessage: string;
  /** What the bot says when the documents hold no answer. */
  readonly unknownMessage: string;
  /** What the bot says to a message of files without a word. */
  readonly filesOnlyMessage: string;
  /** What an API client is told while a person has the conversation. */
  readonly waitingMessage: string;
}

/** In English; used where a workspace sets none of its own. */
export const defaultTexts: DefaultTexts = {
  handoverMessage: "I'm passing this conversation to my colleagues. A person will reply to you here.",
  lookupFailedMessage:
    "I could not look that up just now. You can try again in a few minutes, or ask to talk to a human.",
  lookupUnsureMessage:
    "I could not confirm whether that went through. Please do not try it again yet: ask to talk to a human, who can check.",
  lookupUnverifiedMessage:
    "I can look that up only for customers who are signed in. Please sign in and ask again, or ask to talk to a human.",
  unknownMessage:
    "I don't know: I could not find the answer in our documentation. You can put the question another way, or ask to talk to a human.",
  filesOnlyMessage:
    "I cannot look into files. Yours is kept with this conversation. Tell me in words what you need, or ask to talk to a human, who can open it.",
  waitingMessage: "Your message has reached our team. A person will reply to you here.",
};
