/** The most frequent of Slack's names of emoji. Reactions have names only. */
const signs: ReadonlyMap<string, string> = new Map([
  ["+1", "👍"],
  ["thumbsup", "👍"],
  ["-1", "👎"],
  ["thumbsdown", "👎"],
  ["heart", "❤️"],
  ["tada", "🎉"],
  ["pray", "🙏"],
  ["ok_hand", "👌"],
  ["eyes", "👀"],
  ["raised_hands", "🙌"],
  ["clap", "👏"],
  ["wave", "👋"],
  ["muscle", "💪"],
  ["white_check_mark", "✅"],
  ["heavy_check_mark", "✔️"],
  ["x", "❌"],
  ["question", "❓"],
  ["100", "💯"],
  ["fire", "🔥"],
  ["rocket", "🚀"],
  ["star", "⭐"],
  ["joy", "😂"],
  ["smile", "😄"],
  ["slightly_smiling_face", "🙂"],
  ["heart_eyes", "😍"],
  ["thinking_face", "🤔"],
  ["cry", "😢"],
  ["sob", "😭"],
  ["open_mouth", "😮"],
  ["rage", "😡"],
]);

const firstTone = 0x1_f3_fb;

/** The emoji of a name, such as `+1::skin-tone-2`; a name in colons where it is not known here. */
export function emojiNamed(name: string): string {
  const [base = "", tone] = name.split("::skin-tone-");
  const sign = signs.get(base);
  if (sign === undefined) return `:${base.slice(0, 30)}:`;
  return /^[2-6]$/.test(tone ?? "") ? `${sign}${String.fromCodePoint(firstTone + Number(tone) - 2)}` : sign;
}

/** Slack's name of an emoji; undefined if it is not known here. */
export const nameOfEmoji = (emoji: string): string | undefined =>
  signs.entries().find(([, sign]) => sign === emoji)?.[0];
