/** What the caller hears besides answers. `{bot}` is the bot's name, `{name}` an agent's. */
export const textNames = [
  "greeting",
  "moment",
  "still",
  "slow",
  "again",
  "goodbye",
  "connecting",
  "nobody",
  "leave_message",
  "message_taken",
  "agent",
  "link",
  "link_offer",
  "link_sent",
  "link_failed",
  "whisper",
  "sorry",
] as const;
export type TextName = (typeof textNames)[number];
export type Texts = Readonly<Record<TextName, string>>;

const english: Texts = {
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
};

const german: Texts = {
  greeting: "Hallo, hier ist {bot}. Wie kann ich helfen?",
  moment: "Einen Moment bitte.",
  still: "Ich suche noch. Danke für Ihre Geduld.",
  slow: "Das dauert länger als sonst. Ich sage es Ihnen, sobald ich es weiß. Sie können inzwischen etwas anderes fragen, oder drücken Sie die 0 für einen Menschen.",
  again: "Ich habe leider nichts gehört. Was kann ich für Sie tun?",
  goodbye: "Danke für Ihren Anruf. Auf Wiederhören.",
  connecting: "Ich verbinde Sie mit einem Menschen.",
  nobody: "Im Augenblick kann niemand Ihren Anruf annehmen.",
  leave_message: "Bitte sprechen Sie nach dem Ton, und drücken Sie die Raute-Taste, wenn Sie fertig sind.",
  message_taken: "Danke. Wir haben Ihre Nachricht. Auf Wiederhören.",
  agent: "{name} sagt:",
  link: "ein Link",
  link_offer: "Drücken Sie die 1, um die Links als SMS zu bekommen.",
  link_sent: "Ich habe Ihnen eine SMS geschickt.",
  link_failed: "Leider konnte ich keine SMS an Ihre Nummer schicken.",
  whisper: "Ein Kunde ruft an. Drücken Sie die 1, um das Gespräch anzunehmen.",
  sorry: "Leider ist bei uns etwas gestört.",
};

const french: Texts = {
  greeting: "Bonjour, ici {bot}. Comment puis-je vous aider ?",
  moment: "Un instant, s'il vous plaît.",
  still: "Je cherche encore. Merci de patienter.",
  slow: "Cela prend plus de temps que d'habitude. Je vous le dirai dès que je le saurai. Vous pouvez poser une autre question, ou appuyer sur 0 pour parler à une personne.",
  again: "Désolé, je n'ai rien entendu. Que puis-je faire pour vous ?",
  goodbye: "Merci de votre appel. Au revoir.",
  connecting: "Je vous mets en relation avec une personne.",
  nobody: "Personne ne peut prendre votre appel pour le moment.",
  leave_message: "Veuillez laisser un message après le signal, puis appuyer sur la touche dièse.",
  message_taken: "Merci. Nous avons bien reçu votre message. Au revoir.",
  agent: "{name} dit :",
  link: "un lien",
  link_offer: "Pour recevoir les liens par SMS, appuyez sur 1.",
  link_sent: "Je vous ai envoyé un SMS.",
  link_failed: "Désolé, je n'ai pas pu envoyer de SMS à votre numéro.",
  whisper: "Un client appelle. Appuyez sur 1 pour prendre l'appel.",
  sorry: "Nous sommes désolés, un problème est survenu de notre côté.",
};

const spanish: Texts = {
  greeting: "Hola, soy {bot}. ¿En qué puedo ayudarle?",
  moment: "Un momento, por favor.",
  still: "Sigo buscando. Gracias por esperar.",
  slow: "Esto tarda más de lo normal. Se lo diré en cuanto lo sepa. Mientras tanto puede preguntar otra cosa, o pulsar 0 para hablar con una persona.",
  again: "Lo siento, no he oído nada. ¿En qué puedo ayudarle?",
  goodbye: "Gracias por su llamada. Adiós.",
  connecting: "Le paso con una persona.",
  nobody: "En este momento nadie puede atender su llamada.",
  leave_message: "Por favor, deje un mensaje después de la señal y pulse la tecla almohadilla al terminar.",
  message_taken: "Gracias. Hemos recibido su mensaje. Adiós.",
  agent: "{name} dice:",
  link: "un enlace",
  link_offer: "Para recibir los enlaces por SMS, pulse 1.",
  link_sent: "Le he enviado un SMS.",
  link_failed: "Lo siento, no he podido enviar un SMS a su número.",
  whisper: "Llama un cliente. Pulse 1 para atender la llamada.",
  sorry: "Lo sentimos, hay un problema de nuestro lado.",
};

const byLanguage: Readonly<Record<string, Texts>> = { en: english, de: german, fr: french, es: spanish };

/** Of another language these have to be set, or the caller hears them in English. */
export const textsOf = (language: string, own: Readonly<Partial<Texts>>): Texts => ({
  ...(byLanguage[language.split("-", 1)[0]?.toLowerCase() ?? ""] ?? english),
  ...own,
});
