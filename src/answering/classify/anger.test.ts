import { describe, expect, it } from "vitest";
import { angerOf } from "./anger.ts";
import { defaultSettings } from "#domain/workspace/settings.ts";

const threshold = defaultSettings.angerToEscalate ?? 2;

describe("the anger of a message", () => {
  it.each([
    "This is unacceptable, your service is useless!",
    "I have been waiting for weeks, this is a joke and a scam",
    "WHERE IS MY ORDER??? THIS IS RIDICULOUS!!!",
    "I am furious. I want my money back!",
    "Das ist eine Frechheit, ich warte schon seit Wochen!!",
    "Ihr seid Betrüger, ich gehe zum Anwalt",
    "C'est inadmissible, vous êtes des escrocs !",
    "Esto es una vergüenza, estoy harto de esperar",
    "Oh great, another apology. I am sick of this",
    "You are useless, this is the third time I write!",
    "For the 4th time: where is my parcel",
    "Ihr seid ein Saftladen",
    "rivoglio i miei soldi",
    "wat een aanfluiting",
    "это издевательство",
    "ふざけるな",
  ])("reaches the usual threshold: %s", (text) => {
    expect(angerOf(text)).toBeGreaterThanOrEqual(threshold);
  });

  it.each([
    "How long does delivery take?",
    "My order has still not arrived, can you check?",
    "I am a bit disappointed that the cup was broken.",
    "WHERE IS THE RETURN FORM",
    "Thanks!!! That helped!!!",
    "Is this a scam? I got an e-mail in your name.",
    "I'm not angry, I just want to know when it comes.",
    "Der Filter ist nutzlos geworden, wie bestelle ich einen neuen?",
    "Do you sell a terrible towel?",
    "Hello, I lost my password again",
    "Third time lucky, here is the right file!",
    "I set it up a third time and the light stays red",
    "When I open it the third time it works",
    "Come segnalo un messaggio sospetto?",
    "Hoe meld ik een kapot artikel?",
    "",
  ])("stays below it: %s", (text) => {
    expect(angerOf(text)).toBeLessThan(threshold);
  });
});
