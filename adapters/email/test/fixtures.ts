/** What becomes of each mail in `fixtures/`; the address and names in them are those of fixtures.test.ts. */
export interface Expected {
  readonly kind: "message" | "notice" | "delivery" | "agent" | "ignored";
  /** Of messages and agents the whole text, of others a part of it. */
  readonly text?: string;
  readonly thread?: "known" | "new";
  readonly proven?: boolean;
  readonly from?: string;
  readonly name?: string;
  readonly subject?: string;
  readonly reply_to?: string;
  readonly cc?: readonly string[];
  readonly files?: readonly string[];
  /** Whether all of it is kept beside the text. */
  readonly original?: boolean;
  readonly reason?: string;
  readonly state?: string;
  /** The customer has got it already. */
  readonly sent?: boolean;
}

export const expected: Readonly<Record<string, Expected>> = {
  plain: {
    kind: "message",
    text: "Where is my parcel?",
    thread: "new",
    proven: true,
  },
  "subject-above-first-mail": {
    kind: "message",
    text: "Order 1234 is broken\n\nPlease help.",
    subject: "Order 1234 is broken",
  },
  "subject-only": {
    kind: "message",
    text: "Where is my parcel?",
  },
  "nothing-at-all": {
    kind: "message",
    text: "[This e-mail has no text.]",
  },
  "html-only": {
    kind: "message",
    text: "Hello,\n\nwhere is my parcel?",
  },
  "html-list-and-link": {
    kind: "message",
    text: "Broken:\n\n- the lid\n- the box (https://shop.example/box)",
  },
  alternative: {
    kind: "message",
    text: "Plain words.",
  },
  "alternative-empty-plain": {
    kind: "message",
    text: "Words of HTML.",
  },
  "html-deep-nesting": {
    kind: "message",
    text: "deep",
  },
  "html-broken": {
    kind: "message",
    text: "One\n\nTwo\n\na b\n\nThree bold",
  },
  "charset-latin1": {
    kind: "message",
    text: "Grüße aus Köln",
  },
  "charset-windows-1252": {
    kind: "message",
    text: "It costs 5 € – “too much”",
  },
  "charset-shift-jis": {
    kind: "message",
    text: "荷物はどこですか。",
  },
  "charset-iso-2022-jp": {
    kind: "message",
    text: "荷物はどこですか。",
  },
  "charset-gb2312": {
    kind: "message",
    text: "我的包裹在哪里？",
  },
  "charset-koi8-r": {
    kind: "message",
    text: "Где моя посылка?",
  },
  "charset-utf-16-base64": {
    kind: "message",
    text: "Where is it?",
  },
  "charset-unknown": {
    kind: "message",
    text: "Where is it?",
  },
  "quoted-printable-soft-breaks": {
    kind: "message",
    text: "This line is broken in the middle, and über that.",
  },
  "format-flowed": {
    kind: "message",
    text: "This sentence goes on in the next line.\n\nAnd this is another.",
  },
  "encoded-words": {
    kind: "message",
    text: "Größe „M“ fehlt\n\nSee above.",
    subject: "Größe „M“ fehlt",
    name: "Jürgen Groß",
  },
  "quote-gmail": {
    kind: "message",
    text: "Thanks, that works!",
    thread: "known",
    original: true,
  },
  "quote-gmail-wrapped-attribution": {
    kind: "message",
    text: "It does not.",
    thread: "known",
  },
  "quote-outlook-block": {
    kind: "message",
    text: "No, still broken.",
    thread: "known",
  },
  "quote-outlook-underscores": {
    kind: "message",
    text: "Still broken.",
  },
  "quote-original-message": {
    kind: "message",
    text: "Yes.",
  },
  "quote-german": {
    kind: "message",
    text: "Danke, klappt.",
  },
  "quote-german-outlook": {
    kind: "message",
    text: "Geht nicht.",
  },
  "quote-french": {
    kind: "message",
    text: "Merci !",
  },
  "quote-spanish": {
    kind: "message",
    text: "Gracias.",
  },
  "quote-japanese": {
    kind: "message",
    text: "ありがとうございます。",
  },
  "quote-inline-answers": {
    kind: "message",
    text: "Medium.\nBlue.",
  },
  "quote-answer-below": {
    kind: "message",
    text: "Medium, please.",
  },
  "quote-in-html-gmail": {
    kind: "message",
    text: "It works now.",
    original: true,
  },
  "quote-in-html-outlook": {
    kind: "message",
    text: "Not yet.",
  },
  "quote-in-html-apple": {
    kind: "message",
    text: "Thank you.",
  },
  "quote-all-of-it": {
    kind: "message",
    text: "> Please try again.",
    original: false,
  },
  "sentence-that-ends-with-wrote": {
    kind: "message",
    text: "Yesterday my wife wrote:\nthe parcel is lost.",
  },
  "from-in-a-sentence": {
    kind: "message",
    text: "From: where do you ship?\nI would like to know.",
  },
  forwarded: {
    kind: "message",
    text: "Is this true?\n\n---------- Forwarded message ---------\nFrom: A Friend <friend@elsewhere.example>\nDate: Wed, 18 Nov 2026\nSubject: Sale\n\nEverything is free today.",
  },
  "reply-above-marker": {
    kind: "message",
    text: "My answer.",
  },
  "signature-dashes": {
    kind: "message",
    text: "Where is it?",
    original: true,
  },
  "signature-iphone": {
    kind: "message",
    text: "Where is it?",
  },
  "signature-german-phone": {
    kind: "message",
    text: "Wo ist es?",
  },
  "signature-in-html": {
    kind: "message",
    text: "Where is it?",
  },
  "dashes-in-a-list": {
    kind: "message",
    text: "I need:\n- a lid\n- a box\n---\nThat is all.",
  },
  "token-in-to": {
    kind: "message",
    text: "One more question.",
    thread: "known",
  },
  "token-in-delivered-to": {
    kind: "message",
    text: "One more question.",
    thread: "known",
  },
  "token-in-upper-case": {
    kind: "message",
    text: "One more question.",
    thread: "known",
  },
  "token-forged": {
    kind: "message",
    text: "Let me in.",
    thread: "new",
  },
  "token-of-a-stranger": {
    kind: "message",
    text: "What did she order?",
    thread: "known",
    from: "eve@elsewhere.example",
  },
  "references-without-token": {
    kind: "message",
    text: "Thanks.",
    thread: "known",
  },
  "references-of-a-stranger": {
    kind: "message",
    text: "What did she order?",
    thread: "new",
  },
  "references-of-own-first-mail": {
    kind: "message",
    text: "I forgot something.",
    thread: "known",
  },
  "same-subject-is-no-thread": {
    kind: "message",
    text: "Order\n\nThanks.",
    thread: "new",
  },
  "references-unreadable": {
    kind: "message",
    text: "Hello.",
    thread: "new",
  },
  "no-message-id": {
    kind: "message",
    text: "Where is it?",
    thread: "new",
  },
  "no-date": {
    kind: "message",
    text: "Where is it?",
  },
  "dmarc-pass": {
    kind: "message",
    text: "It is me.",
    proven: true,
  },
  "dmarc-fail": {
    kind: "message",
    text: "It is me, really.",
    proven: false,
  },
  "dmarc-none": {
    kind: "message",
    text: "It is me.",
    proven: false,
  },
  "dmarc-of-another-server": {
    kind: "message",
    text: "It is me.",
    proven: false,
  },
  "dmarc-in-a-comment": {
    kind: "message",
    text: "It is me.",
    proven: false,
  },
  "dmarc-forged-below-the-real-one": {
    kind: "message",
    text: "It is me.",
    proven: false,
  },
  "dmarc-of-another-domain": {
    kind: "message",
    text: "It is me.",
    proven: false,
  },
  "from-in-the-name-of-the-mailbox": {
    kind: "ignored",
    reason: "name of this mailbox",
  },
  "auto-reply-rfc3834": {
    kind: "notice",
    text: "I am away until Monday.",
  },
  "auto-reply-outlook": {
    kind: "notice",
    text: "out of the office",
  },
  "auto-reply-by-subject": {
    kind: "notice",
    text: "Ich bin nicht da",
  },
  "auto-reply-x-autoreply": {
    kind: "notice",
    text: "Away.",
  },
  "auto-reply-precedence": {
    kind: "notice",
    text: "Away.",
  },
  "auto-reply-without-thread": {
    kind: "ignored",
    reason: "Auto-Submitted",
  },
  "auto-submitted-no": {
    kind: "message",
    text: "I wrote this.",
  },
  "mailing-list": {
    kind: "ignored",
    reason: "Precedence: list",
  },
  newsletter: {
    kind: "ignored",
    reason: "list-unsubscribe",
  },
  "feedback-id": {
    kind: "ignored",
    reason: "feedback-id",
  },
  "no-reply-sender": {
    kind: "ignored",
    reason: "nobody reads",
  },
  "null-return-path": {
    kind: "ignored",
    reason: "no address to return to",
  },
  "read-receipt": {
    kind: "ignored",
    reason: "report of a machine",
  },
  "own-mail-comes-back": {
    kind: "ignored",
    reason: "this program has sent it",
  },
  "own-message-id-comes-back": {
    kind: "ignored",
    reason: "this program has sent it",
  },
  "web-form": {
    kind: "message",
    text: "Contact form\n\nName: Bob\nQuestion: how long?",
    proven: false,
    from: "bob@elsewhere.example",
  },
  "bounce-failed": {
    kind: "delivery",
    state: "failed",
    text: "no such user",
  },
  "bounce-delayed": {
    kind: "notice",
    text: "late",
  },
  "bounce-with-whole-mail": {
    kind: "delivery",
    state: "failed",
    text: "mailbox full",
  },
  "bounce-delivered": {
    kind: "delivery",
    state: "delivered",
  },
  "bounce-by-references": {
    kind: "delivery",
    state: "failed",
    text: "policy",
  },
  "bounce-qmail": {
    kind: "delivery",
    state: "failed",
    text: "no mailbox here",
  },
  "bounce-x-failed-recipients": {
    kind: "delivery",
    state: "failed",
    text: "anna@customers.example",
  },
  "bounce-of-somebody-elses-mail": {
    kind: "ignored",
    reason: "has not sent",
  },
  copies: {
    kind: "message",
    text: "All of us wonder.",
    cc: ["bob@customers.example", "carl@elsewhere.example"],
  },
  "groups-of-addresses": {
    kind: "message",
    text: "Hello.",
    cc: ["bob@customers.example", "dan@elsewhere.example"],
  },
  "reply-to-elsewhere": {
    kind: "message",
    text: "Answer me at work.",
    reply_to: "anna@work.example",
  },
  "header-injection-in-a-name": {
    kind: "message",
    text: "Hello.",
    name: "Anna Bcc: all@elsewhere.example",
  },
  "no-sender": {
    kind: "ignored",
    reason: "no sender",
  },
  "agent-in-copy-to-customer": {
    kind: "agent",
    text: "I have looked: it is on its way.",
    sent: true,
  },
  "agent-to-the-thread-alone": {
    kind: "agent",
    text: "It is on its way.",
    sent: false,
  },
  "agent-not-proven": {
    kind: "message",
    text: "I am Lee.",
    thread: "known",
    proven: false,
  },
  attachment: {
    kind: "message",
    text: "See the picture.",
    files: ["box.png image/png"],
  },
  "attachment-only": {
    kind: "message",
    text: "",
    files: ["invoice.pdf application/pdf"],
  },
  "attachment-with-encoded-name": {
    kind: "message",
    text: "Here.",
    files: ["Rechnung über 10 €.pdf application/pdf"],
  },
  "attachment-with-a-path": {
    kind: "message",
    text: "Here.",
    files: ["passwd.csv text/csv"],
  },
  "inline-image": {
    kind: "message",
    text: "Look: [the broken lid]",
    files: ["lid.png image/png"],
  },
  "tracking-pixel": {
    kind: "message",
    text: "Hello.",
    files: [],
  },
  "attached-mail": {
    kind: "message",
    text: "See the attached mail.",
    files: ["inner.eml message/rfc822"],
  },
  "calendar-invitation": {
    kind: "message",
    text: "Let us meet.",
    files: ["invite.ics text/calendar"],
  },
  "signed-smime": {
    kind: "message",
    text: "Signed words.",
    files: [],
  },
  "encrypted-pgp": {
    kind: "message",
    text: "[This e-mail is encrypted, and cannot be read here.]",
    files: ["encrypted.asc application/octet-stream"],
  },
  "boundary-never-closed": {
    kind: "message",
    text: "It ends here.",
  },
  "boundary-missing": {
    kind: "message",
    text: "[This e-mail has no text.]",
  },
  "null-bytes": {
    kind: "message",
    text: "Before\0after",
  },
  "unix-line-ends": {
    kind: "message",
    text: "Where is it?",
  },
  "header-of-100-kilobytes": {
    kind: "message",
    text: "Short.",
  },
};
