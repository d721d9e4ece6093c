import { describe, expect, it } from "vitest";
import { pauseAfter } from "./unfinished.ts";

/** Messages that people send in a row, and then wait. The last one completes the question. */
const rows = `
Hello / I have a question / about the widget / how do I change / its colour?
hi / can you help me / my order has not arrived / what can i do?
Hey / quick question / do you ship to Norway?
hello there / I bought a lamp last week / and it arrived broken / can I get a new one?
Hi, / how do I / reset my password?
Good morning / I need help / with my invoice / where can I download it?
hi / is it possible / to pay by bank transfer?
hello / we are a school / and there are thirty pupils / is there a discount?
Hello / it's about my subscription / how can i cancel it?
hey / so / I tried to connect Slack / but / it says invalid token / what does that mean?
hi / one question / what are your opening hours?
Hi / I've got a problem / the app doesn't start / since yesterday / how do I fix that?
hello / my name is Ana / I ordered on Monday / when will it arrive?
hey there / regarding the invoice / from March / can you send it again?
Hi / I am moving house / and / how do I change my address?
hello / the / widget does not show up / what should I check?
hi / can I / export all my data?
Hello / how can I / add a colleague / to our team?
hi / we have two shops / and different opening hours / can I set both?
hello / I can't log in / it says the code is wrong / where do I get a new code?
Hi / another question / about billing / is VAT included?
hi / my colleague left the company / how do I remove her account?
Hello / I'd like to / know / if you deliver on Saturdays?
hey / the printer is offline / but it's switched on / any idea why?
hi / for the return / do I need the box?
Hello / sorry / I have another question / how long is the warranty?
hello / I was charged twice / this month / how do I get my money back?
hi / about / the API / how many requests can I send?
Hi / i want to / change the language / of the chat / how do I do that?
hello / there is / an error on your site / it says 500 / what now?
Hallo / ich habe eine Frage / zum Widget / wie ändere ich / die Farbe?
hallo / mein Paket ist nicht da / was kann ich tun?
Guten Tag / kurze Frage / liefern Sie nach Österreich?
hallo / können Sie mir helfen / ich habe mein Passwort vergessen / wie bekomme ich ein neues?
Hallo / es geht um meine Rechnung / wo finde ich die?
moin / wir haben zwei Filialen / und / kann man beide eintragen?
Hallo / ich möchte / meine Adresse ändern / wie geht das?
hallo / wegen der Rücksendung / brauche ich den Karton?
Hallo / die App startet nicht / seit gestern / was soll ich machen?
hallo / noch eine Frage / ist die Mehrwertsteuer enthalten?
Bonjour / j'ai une question / sur le widget / comment changer / sa couleur ?
bonjour / ma commande n'est pas arrivée / que puis-je faire ?
Bonjour / petite question / livrez-vous en Suisse ?
salut / pouvez-vous m'aider / j'ai perdu mon mot de passe / comment en obtenir un autre ?
Bonjour / je voudrais / changer mon adresse / comment faire ?
bonjour / concernant la facture / de mars / pouvez-vous la renvoyer ?
Hola / tengo una pregunta / sobre el widget / ¿cómo cambio / el color?
hola / mi pedido no ha llegado / ¿qué puedo hacer?
Buenos días / una pregunta / ¿envían a Canarias?
hola / me puedes ayudar / he olvidado mi contraseña / ¿cómo la recupero?
Hola / quiero / cambiar mi dirección / ¿cómo lo hago?
Ciao / ho una domanda / sul widget / come cambio / il colore?
ciao / il mio ordine non è arrivato / cosa posso fare?
Buongiorno / una domanda / spedite in Svizzera?
ciao / mi potete aiutare / ho dimenticato la password / come la recupero?
Olá / tenho uma dúvida / sobre o widget / como mudo / a cor?
olá / meu pedido não chegou / o que posso fazer?
Bom dia / uma pergunta / vocês entregam nos Açores?
Hallo / ik heb een vraag / over de widget / hoe verander ik / de kleur?
hallo / mijn pakket is niet aangekomen / wat kan ik doen?
Goedemorgen / kort vraagje / leveren jullie in België?
hoi / kunt u me helpen / ik ben mijn wachtwoord vergeten / hoe krijg ik een nieuw?
Hej / jag har en fråga / om widgeten / hur ändrar jag / färgen?
hej / mitt paket har inte kommit / vad kan jag göra?
Hej / jeg har et spørgsmål / om widgetten / hvordan ændrer jeg / farven?
hej / min pakke er ikke kommet / hvad kan jeg gøre?
Hei / jeg har et spørsmål / om widgeten / hvordan endrer jeg / fargen?
Hei / minulla on kysymys / miten voin / vaihtaa värin?
Здравствуйте / у меня вопрос / про виджет / как изменить / цвет?
привет / мой заказ не пришел / что делать?
Dzień dobry / mam pytanie / o widget / jak zmienić / kolor?
hmm / ok so / the app says error 31 / what does that mean?
https://shop.example/p/4410 / is this one waterproof?
just checking / is it vegan?
hm / ok also / der Code kommt nicht an / was mach ich da?
euh / ok donc / le voyant clignote en rouge / c'est grave ?
mmm / a ver / me sale un error 502 / ¿qué hago?
`;

/** Messages that say all: the answer must not wait. */
const complete = `
How do I change the colour of the widget?
how do i change the colour of the widget
reset password
widget colour
i would like to change my address
cancel my order 4471
delete my account
Please send me a copy of invoice 20231.
Bitte schicken Sie mir die Rechnung noch einmal zu.
Merci de m'envoyer un duplicata de la facture.
slet min konto
thanks
thank you very much!
1
yes
no
sí
ja
ok
ORD-4711
ana@example.com
Wie ändere ich die Farbe des Widgets?
wie ändere ich die Farbe des Widgets
Comment changer la couleur du widget ?
¿Cómo cambio el color del widget?
Come cambio il colore del widget?
Como mudo a cor do widget?
Hoe verander ik de kleur van de widget?
hoe verander ik de kleur van de widget
Hur ändrar jag färgen på widgeten?
Как изменить цвет виджета?
Jak zmienić kolor widgetu?
ウィジェットの色を変えるには?
如何更改小部件的颜色?
and on a mac?
why?
`;

/** Short questions without a mark, after which people often go on: "or only PayPal?". */
const short = `
where can i download my invoice
what are your opening hours
do you ship to norway
can i pay by card
comment changer la couleur du widget
i need to cancel my subscription
is there a free trial
wo finde ich meine Rechnung
kann ich mit Karte zahlen
`;

const linesOf = (text: string): readonly string[] => text.trim().split("\n");

/** How many answers a row of messages gets, when its next message is typed at this pace. Like the engine's due times. */
function answersTo(messages: readonly string[], msPerCharacter: number): number {
  let now = 0;
  let due = Infinity;
  let answers = 0;
  for (const [at, message] of messages.entries()) {
    if (at > 0) now += 350 + message.length * msPerCharacter;
    if (due <= now) answers += 1;
    due = now + pauseAfter(message, at > 0);
  }
  return answers + 1;
}

describe("a message that is not finished", () => {
  it.each(linesOf(rows))("waits for the rest: %s", (row) => {
    const messages = row.split(" / ");
    const pauses = messages.map((message, at) => pauseAfter(message, at > 0));
    expect(pauses.map((ms) => ms > 0)).toEqual(messages.map((_, at) => at < messages.length - 1));
    expect(answersTo(messages, 45)).toBe(1);
  });

  it.each(linesOf(complete))("does not delay the answer to: %s", (message) => {
    expect(pauseAfter(message, false)).toBe(0);
  });

  it.each(linesOf(short))("waits at most 1.5 seconds after: %s", (message) => {
    const pause = pauseAfter(message, false);
    expect(pause).toBeGreaterThan(0);
    expect(pause).toBeLessThanOrEqual(1_500);
  });

  it("waits for the question about a file", () => {
    expect(pauseAfter("", false)).toBeGreaterThan(0);
  });
});
