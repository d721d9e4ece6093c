import type { Locale } from "../locale.ts";

/** Part of the widget's program: the browser shows these until the texts of another language are loaded. */
export const widgetTexts = {
  open: "Open chat",
  close: "Close chat",
  unread: "{count} unread",
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
  helpful: "Helpful",
  unhelpful: "Not helpful",
  rating: "Rate the conversation",
  score: "{count} of 5",
  comment: "Add a comment",
  rated: "Thank you for your rating.",
  reply: "Reply to this message",
  inReply: "In reply to:",
  replyToNone: "Reply to no message in particular",
  react: "React to this message",
  reactionBy: "Reaction by {name}",
};

/** English. */
export const en = {
  bot: {
    handover: "I'm passing this conversation to my colleagues. A person will reply to you here.",
    unknown:
      "I don't know: I could not find the answer in our documentation. You can put the question another way, or ask to talk to a human.",
    waiting: "Your message has reached our team. A person will reply to you here.",
    survey:
      "How was our support? Please reply with a number from 1 (poor) to 5 (very good). You can add a comment after a comma.",
    rated: "Thank you for your rating!",
    uncertain: "I'm not certain, but this may help:",
    hello: "Hello! What can I help you with?",
    thanks: "You're welcome! Is there anything else I can help with?",
    goodbye: "Goodbye! Come back whenever you have a question.",
    pleased: "Good to hear. Is there anything else I can help with?",
    about:
      "I'm {bot}, an automated assistant: I answer from our documentation. If you would rather talk to a human, just say so.",
    files_only:
      "I cannot look into files. Yours is kept with this conversation. Tell me in words what you need, or ask to talk to a human, who can open it.",
    lookup_failed: "I could not look that up just now. You can try again in a few minutes, or ask to talk to a human.",
    lookup_unsure:
      "I could not confirm whether that went through. Please do not try it again yet: ask to talk to a human, who can check.",
    lookup_unverified:
      "I can look that up only for customers who are signed in. Please sign in and ask again, or ask to talk to a human.",
    lead_kept: "Thank you, I have noted that. We will use it to reach you.",
    lead_wanted: "Please tell me your e-mail address or phone number, and we will use it to reach you.",
    hours_open: "We are open now, until {time} ({timezone}).",
    hours_today: "We are closed now, and open again today at {time} ({timezone}).",
    hours_later: "We are closed now, and open again on {day} at {time} ({timezone}).",
    hours_closed: "We are closed at the moment.",
    lookup_none: "I found nothing for that. Please check what you wrote, or ask to talk to a human.",
    unknown_language:
      "Our documentation is in another language: {language}. A question in that language may find more.",
    did_you_mean: "Did you mean one of these? Reply with its number.",
  },
  widget: widgetTexts,
  voice: {
    greeting: "Hello, this is {bot}. How can I help you?",
    moment: "One moment, please.",
    still: "I am still looking. Thank you for waiting.",
    slow: "This takes longer than usual. I will tell you as soon as I know. You can ask something else meanwhile, or press 0 for a person.",
    again: "Sorry, I did not hear anything. What can I do for you?",
    goodbye: "Thank you for calling. Goodbye.",
    connecting: "I am connecting you with a person.",
    nobody: "Nobody can take your call at the moment.",
    leave_message: "Please leave a message after the tone, and press the pound key when you are done.",
    message_taken: "Thank you. We have your message. Goodbye.",
    agent: "{name} says:",
    link: "a link",
    link_offer: "To get the links by text message, press 1.",
    link_sent: "I have sent you a text message.",
    link_failed: "Sorry, I could not send a text message to your number.",
    whisper: "A customer is calling. Press 1 to take the call.",
    sorry: "We are sorry, something is wrong on our side.",
  },
  stopWords: `a about above actually after again all already also am an and any anybody anymore anyone anything are aren
    arent as at be because been before being below between both but by can cannot cant could couldnt did didnt
    do does doesnt doing dont down during each either else etc even ever every exist exists few for from further
    get gets getting go goes going got had hadnt has hasnt have havent having he hello her here hers herself hey
    hi him himself his how hows however i id if ill im in into is isnt it its itself ive just kindly let lets
    like many may maybe me might mine more most much must my myself need neither no nor not now of off ok okay
    on once one only or other our ours ourselves out over own perhaps please quite rather really s same shall
    she should shouldnt so some somebody someone something still such t tell than thank thanks that thats the
    their theirs them themselves then there theres these they thing things this those through to too under until
    up upon us very via want wants was wasnt we well were werent what whats when where wheres whether which
    while who whom whose why will with within without wont would wouldnt yes yet you youd youll your youre yours
    yourself yourselves youve u ur pls plz thx wanna gonna gotta cuz coz idk`,
  documentWords: "use add need new page open",
  functionWords: "",
  spelling: { signs: null, restored: [], elides: false },
  questions: {
    and: "",
    asks: "",
    opens: "so and but also plus ok okay now then well anyway or hi hello hey",
    tells: "",
    indirect: "",
    whether: "whether|if",
    preambles: [
      "(?:(?:i(?:'ve| have)?(?: got)?|just|got) )?(?:a |one |another )?(?:quick|short|small|little|simple|general) question(?: for you)?",
      "i(?:'ve| have)? (?:got )?(?:a|one|another) question(?: for you)?",
      "(?:can|could|would) (?:you|u|someone|somebody|anyone|anybody) (?:please |pls |plz )?help(?: me)?(?: out| with this)?(?= *[.,:;!?\\n])",
      "(?:please|pls|plz|pleas) help(?: me)?|help(?: me)?(?: please| pls| plz)?(?= *!+| *$)",
      "i(?:'m| am| was) (?:just )?wondering(?: if| whether)?",
      "sorry (?:to bother you|for bothering you)|thanks in advance|good (?:morning|afternoon|evening|day)",
    ],
  },
  followUp: {
    continuing: "and|but|or|so|also|what about|how about|what if|why",
    pointing: "it|its|that|this|they|them|their|those|these|one|ones|there|he|she|his|her|same",
    final: "",
    measuring: "",
  },
  clauses: {
    contrasts: "but while whereas although though however",
    conjunctions: "and or",
    ranges: "to or and",
    leaning: `and but or nor neither also it its they them their this these those that he she his her below above
    otherwise`,
    pronouns: "it they",
  },
  negations: `not no never none nothing nobody nowhere neither nor cannot cant dont doesnt didnt isnt arent wasnt werent
    wont wouldnt shouldnt couldnt hasnt havent hadnt mustnt neednt aint without unable impossible excluded`,
  numbers: {
    zero: 0,
    one: 1,
    two: 2,
    three: 3,
    four: 4,
    five: 5,
    six: 6,
    seven: 7,
    eight: 8,
    nine: 9,
    ten: 10,
    eleven: 11,
    twelve: 12,
    thirteen: 13,
    fourteen: 14,
    fifteen: 15,
    sixteen: 16,
    seventeen: 17,
    eighteen: 18,
    nineteen: 19,
    twenty: 20,
    thirty: 30,
    forty: 40,
    fifty: 50,
    sixty: 60,
    seventy: 70,
    eighty: 80,
    ninety: 90,
  },
  courtesies: {
    hello: "hi|hello|hey|heya|hiya|howdy|yo|greetings|morning|afternoon|evening|hallo|hola|bonjour|ciao",
    thanks: "thanks|thank|thx|ty|cheers|merci|danke|gracias|appreciated",
    goodbye: "bye|goodbye|cya|farewell",
    beside:
      "good|day|there|you|so|very|much|a|lot|again|for|the|your|help|all|everyone|team|bot|assistant|to|see|later|now|have|nice|one|and|oh|well|that|it|is|was|this|everything|works|got|i|me|many|really|u|thats|its|how|are|doing|today|ya",
  },
  pleasantries: [
    "(?:hi|hello|hey)(?: there)?",
    "(?:sure|certainly|absolutely|of course|gladly|no problem|great question|good question)(?: thing)?",
    "(?:i'm |i am |i'd be |i would be )?(?:happy|glad) to help(?: you)?(?: with (?:that|this))?",
    "thanks?(?: you)? for (?:asking|your (?:question|message)|reaching out|getting in touch)",
    "(?:i'm |i am )?sorry (?:to hear that|for the (?:trouble|inconvenience))",
    "here(?:'s| is| are)(?: (?:how|what|the (?:steps|details|answer|overview)|a (?:short |quick )?(?:summary|overview)|some (?:details|more details)|what (?:you can do|i found|to do)|how (?:it works|to do (?:it|that|this))))+",
    "(?:just |simply |please )?follow these (?:simple )?steps",
    "(?:to do (?:so|that|this|it)|in short|in summary|to sum up|in detail|step by step|the steps are|these are the steps|steps|summary|details|note|please note|for example|in addition|also|next|then|finally|afterwards|otherwise|alternatively)",
    "(?:please )?(?:let me know|tell me|feel free to ask|just ask)(?: (?:if|should|whether) (?:you|there)(?:'s| is| are| have| need| has)?(?: (?:any|more|further|other|anything|else|questions?|help|i can|you'd like|to know|have|need|with|that|this|your|about|it|a|something|not clear|unclear))*)?",
    "(?:if you have|should you have) (?:any )?(?:more |further |other )?questions,? (?:please )?(?:let me know|just ask|feel free to ask|i'm happy to help)",
    "(?:i hope|hope) (?:this|that) helps",
    "is there anything else (?:i can (?:help(?: you)? with|do for you))?",
    "have a (?:nice|great|good) day",
  ],
  letters: {
    salutations: "hi|hello|hey|dear|greetings|good (?:morning|afternoon|evening|day)|to whom it may concern",
    closings:
      "(?:best|kind|warm|kindest|warmest)(?: regards| wishes)?|regards|best|cheers|sincerely|yours(?: (?:sincerely|faithfully|truly))?|(?:many )?thanks(?: (?:a lot|so much|again|in advance|and regards|for (?:your|any|the) [a-z]+))?|thank you(?: (?:very much|so much|in advance|for your [a-z]+))?|thx",
  },
  handover: {
    talk: "talk speak chat converse tlk reach",
    talkLast: "",
    transfer:
      "connect me|connect us|transfer me|transfer us|put me through|put us through|put me on|put me onto|put me in touch|put us in touch|switch me|pass me|hand me|forward me|patch me|redirect me|refer me|route me|escalate me|escalate this|get me|gimme|give me|bring me|find me|fetch me|let me have|let me reach|get hold of|send me|have you got|ring me|bring in|get in touch with|in contact with|hand this to|pass this to|hand over to|transfer this chat|transfer this to",
    want: "i need|we need|need an|need a|want an|want a|id like a|id like an|i would like a|i d like a|i demand|can i get|can i have|could i get|could i have|may i have|can we get|can we have|can you get|could you get|is there a|is there an|is there any|is there some|are there any|are there|do you have|dont you have|get a|get an|get the|get human|contact a|contact an|contact human|want human|need human|want the|ask for a|asking for a|asked for a|prefer a|prefer an|reach a|reach an",
    staff:
      "someone somebody anyone anybody people manager managers supervisor supervisors boss colleague colleagues team support staff employee employees adviser advisor advisors specialist technician consultant",
    idioms:
      "real human|actual human|human being|live agent|live person|live human|real person|actual person|actual agent|real agent|human support|human help|customer service representative|talk to customer service|talk with customer service|speak to customer service|speak with customer service|chat with customer service|through to customer service|me to customer service|someone real|somebody real|someone human|somebody human|call me back|phone me back|ring me back|someone call me|somebody call me|someone to call me|somebody to call me|someone phone me|someone ring me|someone contact me|somebody contact me|someone to contact me|a callback|a call back|request callback|instead of a bot|instead of this bot|flesh and blood|stop the bot|stop this bot|human please|a human now",
    asks: "are you|r u|is this|am i|is it|how|what|which|where|when|who|does|did|was",
    unspaced: "",
    persons: "human humans person agent operator representative rep manager supervisor",
    beside: "please pls plz now a an the real live human hello hi hey",
    negations: `not no never dont doesnt didnt cant cannot wont wouldnt shouldnt neednt needn isnt without avoid stop hate
    nobody nor neither`,
    trailing: "",
    clauses: "but so and because then please just let lemme connect get give",
    wishes: "i want|i need",
    wishVerbs: "",
    whys: "why if",
    cans: "can could may why",
    pronouns: "i you we there someone",
  },
  denial: {
    persons: `human humans person people agent agents operator representative rep someone anybody anyone staff colleague
    bot robot`,
    negations: "not no never dont without instead",
    others: `i id im do does did want wanna need like would rather to talk talking speak speaking chat chatting with a an
    the any have has had be of real live please just me us my we you connect get give put through transfer
    contact support now yet right here there thanks and but so is this it for`,
    joins: "but so and just",
    without: "without",
    pattern: "",
  },
  anger: {
    strong: `furious outraged outrageous disgusting disgusted scam scammers scammed fraud fraudsters thieves lawyer
    lawsuit sue pathetic bullshit fuck fucking fucked wtf asshole idiots idiot morons damn bastards crap`,
    medium: `unacceptable ridiculous terrible horrible awful worst useless garbage rubbish hate angry fed ripoff disgrace
    joke infuriating frustrating frustrated annoyed annoying incompetent stupid nonsense disappointed appalling`,
    mild: "again still never nobody nothing days weeks months waiting ignored ignoring already times ever",
    negations: "not no never dont isnt wasnt arent",
    phrases:
      "this is (?:a |an )?(?:absolute |complete |total |fucking )?(?:joke|disgrace|scam|farce|shambles|nightmare)|(?:want|give) (?:me )?(?:all )?my (?:[a-z]+ )?money(?: back)?(?= ?(?:!|now|today|immediately))|waste of (?:my )?(?:time|money)|sick (?:and tired )?of|had enough|fed up|never (?:again|buying|ordering|using)|(?:you|this)(?:r| is| are)? (?:[a-z]+ )?(?:bot|thing|people|guys|lot)? ?(?:is|are)? ?(?:useless|stupid|dumb|clowns|jokers|liars|crooks)|are you (?:kidding|serious|joking|people (?:even|serious))|(?:worst|shittiest) (?:[a-z]+ )?(?:service|company|support|experience)|(?:leave|leaving|post|write) (?:a )?(?:bad|negative|terrible|1 star|one star) review|trading standards|small claims|report(?:ing)? you|see you in court|don.?t care about (?:your )?customers|(?:great|fantastic|brilliant|wonderful|amazing|bravo|well done|nice job|congrat[a-z]*)[ ,!.]+(?:another|third|fourth|fifth)(?= )|(?:for|this is|its|it.?s|that is|that.?s|thats) (?:already |now )*(?:the|my) (?:3rd|third|4th|fourth|5th|fifth|tenth|10th) (?:time|email|message|call|broken)(?! lucky)|what (?:the hell|a joke|the actual)|shut up|go to hell|piss[a-z]* (?:me )?off|absolute (?:joke|disgrace|shambles)|moving to (?:your|a) competitor|go(?:ing)? to (?:your|a) competitor|i.?m cancelling everything|shove it|you (?:have )?ruined|hope you.?re (?:proud|happy)|proud of yourselves|ripping (?:me|people) off|ripped (?:me )?off|do(?:es)? anyone (?:even )?(?:read|work)|can you (?:even|people) read|how dare you|utter(?:ly)? (?:useless|incompetent)|worst (?:company|service|support)|enough is enough|lost (?:all )?patience",
    unspaced: "",
  },
  unfinished: {
    announces:
      "dear .{1,30}|(?:ok(?:ay)? )?so|just checking|just asking|excuse me|sorry|gm|hi team|hi all|(?:hey|hello|hi|good morning|good afternoon|good evening) (?:team|all|guys|support|folks|everyone|there)|(?:you |u )?got (?:a|1) (?:sec|second|min|minute|moment)|(?:is )?(?:anyone|anybody|someone|somebody|you|u) (?:there|here|around)|quick (?:q|one)|(?:hey |um |uh )+(?:hi|hello|hey)|(?:hey )?quick one|(?:just |another |one more |one |sorry |so )?(?:a )?(?:quick |small |short )?(?:question|thing)(?: (?:about|regarding|for|please).{0,30})?|(?:i|we)(?: have| had|ve)?(?: got)? (?:a|an|another|one|some|two|few)(?: more)?(?: quick| small| short)? (?:questions?|problems?|issues?)(?: please| here| with this)?|(?:i|we)(?: ve| have)? got (?:a|another) (?:question|problem)|(?:can|could|may) (?:i|we) ask(?: you)?(?: something| a question| sth)?|(?:can|could) (?:you|u|someone|anyone) help(?: me| us)?(?: out)?|(?:i|we)(?: m| am| are)? (?:having|having got) (?:a )?(?:problem|trouble|an issue)|so|ok so|well|and|also",
    continues:
      "the a an my your our his her their its this these those and or but because with about of if that which whether i we when while than every some any is are to from at into between per next new same more for on me us",
    begins:
      "about regarding concerning since for with without on in at from re of after before during and but or the a an my our your his her their this that these those",
    lacksObject:
      "(?:and |so |but )?(?:how|where|when|why)(?: (?:do|can|could|should|would|must))?(?: (?:i|we|you|one))?(?: (?:change|set|get|find|use|make|put|turn|move|edit|remove|delete|add|update|replace|connect|configure|see|have|want|need))?|(?:can|could|may|do|does|did|is|are|will|would|should)(?: (?:i|we|you|it|there))?(?: (?:change|set|get|find|use|make|put|turn|move|edit|remove|delete|add|update|replace|connect|configure|see|have|want|need))?|(?:and |so )?(?:is|would) (?:it|there) (?:be )?(?:possible|a way|any way|an option)(?: to)?|what(?: (?:is|are|about|if))?|(?:id|wed) like(?: to)?(?: know| ask)?|(?:im|we are) trying(?: to)?|(?:i|we)(?: (?:want|need|would like|wanna|am trying))?(?: to)?(?: (?:change|set|get|find|use|make|put|turn|move|edit|remove|delete|add|update|replace|connect|configure|know|ask))?",
    states:
      "i im ive we my our it its this that he she they there is are was were has have had doesnt dont isnt wont cant didnt says shows arrived came stopped works keeps got",
    requests: "cancel delete unsubscribe change pause add remove close reset update send stop resend refund please",
  },
  references: {
    things: "order|invoice|ticket|booking|tracking|parcel|shipment|customer|reference|ref|case|account",
    numbers: "numbers?|no\\.?|id|code",
    owned: "",
    being: "is|was",
    mine: "my",
  },
  openingHours: ["are you open", "opening hours", "business hours", "when do you open", "when are you open"],
  linkBySms: ["text me", "text it to me", "send me the link", "send the link", "send me a text"],
} satisfies Locale;
