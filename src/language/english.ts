/** Words that carry no subject of their own. Compared before stemming, apostrophes already gone. */
export const englishStopWords: ReadonlySet<string> = new Set(
  `a about above actually after again all already also am an and any anybody anymore anyone anything are aren arent as at be because been
  before being below between both but by can cannot cant could couldnt did didnt do does doesnt doing dont down during
  each either else etc even ever every exist exists few for from further get gets getting go goes going got had hadnt has hasnt have
  havent having he hello her here hers herself hey hi him himself his how hows however i id if ill im in into is isnt it
  its itself ive just kindly let lets like many may maybe me might mine more most much must my myself need neither no nor
  not now of off ok okay on once one only or other our ours ourselves out over own perhaps please quite rather really s
  same shall she should shouldnt so some somebody someone something still such t tell than thank thanks that thats the
  their theirs them themselves then there theres these they thing things this those through to too under until up upon us
  very via want wants was wasnt we well were werent what whats when where wheres whether which while who whom whose why
  will with within without wont would wouldnt yes yet you youd youll your youre yours yourself yourselves youve
  u ur pls plz thx wanna gonna gotta cuz coz idk`
    .split(/\s+/)
    .filter((word) => word !== ""),
);

const isAscii = /^\p{ASCII}*$/u;

/** Lower case without accents, so that "Café" and "cafe" are one word. Marks of scripts that need them stay. */
export function fold(text: string): string {
  if (isAscii.test(text)) return text.toLowerCase();
  return text
    .normalize("NFKD")
    .replaceAll(/[\u0300-\u036f]/g, "")
    .normalize("NFC")
    .toLowerCase();
}
