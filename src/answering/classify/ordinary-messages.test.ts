import { expect, it } from "vitest";
import { defaultSettings } from "#domain/workspace/settings.ts";
import { angerOf } from "./anger.ts";
import { humanRequestIn } from "./escalation.ts";

/** Messages that need no person, with words of those that do. */
const ordinary = `
Wie viele Personen kann ich im Tarif haben?
Ich will einen Mitarbeiter hinzufügen
Ich brauche eine Rechnung auf eine andere Person
Kann ich E-Mails an einen Mitarbeiter weiterleiten?
Wer kann Zugriff auf mein Konto haben?
Wie lade ich Kollegen in mein Team ein?
Das Team hat gestern angerufen
Was ist der Unterschied zur Konkurrenz?
Gab es einen Rückruf für dieses Produkt?
Ich bin kein Roboter, das Captcha geht nicht
Super, funktioniert wieder
Reicht ein Foto oder muss ich das Gerät einschicken? Es reicht hoffentlich ein Foto
Ich habe bezahlt, wann kommt die Bestätigung?
Herzlichen Glückwunsch zum neuen Produkt! Wo kann ich es kaufen?
Mein Anwalt braucht eine Kopie der Rechnung
Wie erreiche ich die Einstellungen?
Gibt es einen Rabatt für Mitarbeiter?
Kann ich auf ein Konto einer anderen Person überweisen?
Welche Sprachen sprechen Sie?
Mit welchem Programm reden die Geräte miteinander?
Remboursez-vous les frais de port ?
Comment configurer les réponses automatiques ?
Pouvez-vous me rappeler mon mot de passe ?
Je veux annuler mon service
Il y a une personne de trop sur mon compte
Quel forfait que choisir pour une petite équipe ?
Comment répondre à un avis négatif ?
Je veux voir les personnes de mon équipe
Super, ça marche encore
Combien de personnes peuvent utiliser l'application ?
Je cherche un agent de nettoyage pour l'écran, lequel utiliser ?
Est-ce que le chat mange du poisson
Puis-je transférer un fichier à une autre personne ?
J'ai besoin d'une facture pour mon service comptable
La personne qui m'a vendu le vélo n'est plus là
¿Hay límite por persona?
Quiero agregar una persona a mi cuenta
¿Cuál es el consumo eléctrico del router?
Me voy a mudar, ¿cómo cambio la dirección?
¿Cuánto cuesta el plan de soporte?
¿Me puede ayudar con el soporte de la bici?
Genial, ya funciona otra vez
¿Puedo hablar por videollamada con el plan gratis?
¿Qué es el texto para el bot?
Llámame Ana, por favor
¿Cómo añado un agente nuevo?
¿Puedo contactar con varios clientes a la vez?
Posso aggiungere una persona al mio account?
C'è un limite per persona?
Ottimo, funziona di nuovo
Come rispondo a una recensione negativa?
Come configuro i messaggi a voce?
Quante persone possono usare il piano base?
La persona fisica paga l'IVA?
Vorrei un assistente vocale compatibile
Quando chega meu pedido?
Como adiciono uma pessoa na minha conta?
Tem limite de pessoas?
Parabéns pelo produto, nota 10!
Ótimo, voltou a funcionar de novo
Qual é o processo de devolução?
Quero convidar um colega para a equipe
Como denuncio um anúncio falso?
Ik wil een collega uitnodigen
Kan ik een medewerker toevoegen?
Wanneer gaat de koerier me bellen?
Ik ben geen robot maar de captcha werkt niet
Hoeveel mensen kunnen meekijken?
Super, hij doet het weer
Heb je een app voor iPhone?
Mijn collega heeft gisteren gebeld
Hoe kan ik met mijn telefoon betalen in de winkel?
De verbinding is slecht, wat kan ik doen?
Hur lägger jag till en person i kontot?
Finns det någon rabatt för studenter?
Jag är ingen robot men captchan fungerar inte
Har ni någon butik i Malmö?
Hur många människor kan använda appen?
Kan jag prata i telefonen med hörlurarna?
Er der nogen rabat til studerende?
Er der nogen forskel på de to modeller?
Hvordan tilføjer jeg en person til min konto?
Har I en butik i Aarhus?
Kan man tale i telefon med headsettet?
Ringer uret når nogen ringer til mig?
Er det noen rabatt for studenter?
Hvordan legger jeg til en person?
Har dere butikk i Bergen?
Voitteko kertoa aukioloajat?
Onko joku alennus opiskelijoille?
Miten lisään henkilön tilille?
Voisitko kertoa hinnan?
Kuinka monta ihmistä mahtuu?
Как добавить человека в аккаунт?
Можно ли добавить человека в тариф?
Есть ли доставка живых цветов?
Я не робот, капча не работает
Сколько человек может пользоваться?
Дайте ссылку на инструкцию
Передайте курьеру, что код 45
Можно оплатить картой?
Отлично, снова работает
Позвонить можно только днём?
どの担当者がこの機能を使えますか
一人いくらですか
人数制限はありますか
文章の折り返しはどう設定しますか
サポート期間はどのくらいですか
スタッフ用のアカウントは何個作れますか
電話番号を変更したいです
最低何個から注文できますか
迷惑メールに入っていました
ゴミ箱を空にする方法は?
解約して返金はありますか
请问客服工作时间是几点
怎么转账给别人
垃圾邮件怎么设置
我可以和几个人一起用
직원 계정은 몇 개까지 만들 수 있나요
전화번호를 변경하고 싶어요
사람마다 요금이 다른가요
Do you have a person limit?
Can I give my agent access to the account?
I need a person's signature on the form?
I want to add a human agent to my team
Can you give me one example?
Give me the service manual please
Is there a manager role?
What support plans are there?
Do you sell packs of 10?
You guys have a store in Leeds?
The device shuts down. How do I shut down the hub?
Jak dodać osobę do konta?
Czy jest zniżka dla pracowników?
Super, znowu działa
Jak odpowiedzieć na negatywną opinię?
Fan noise loud
LED blinkt rot
pros and cons?
piscina riscaldata orari
Hoe vaak moet ik het filter vervangen?
Wie oft muss ich den Filter wechseln?
Combien de fois par an faut-il le changer ?
¿Cuántas veces puedo usar el cupón?
Quante volte posso usarlo?
Quantas vezes posso usar o cupom?
Сколько раз можно применить промокод?
Ile razy mogę użyć kodu?
Hur många gånger kan jag byta?
Hvor mange gange kan jeg bytte?
Is there a queue? I am in the queue already
Rappelle-moi comment on change la langue
Finnes det noen andre farger?
suomenkielistä ohjetta?
Er varan på plats i butiken?
Kann ich ein Stück weiter oben anfangen?
Yes, reset my password
yes please send me the link
yes i want to connect whatsapp
The bot does not speak Spanish
the software doesn't talk to the printer
Kann ich das mit einem Computer verbinden?
как связать телефон с компьютером
Es compatible con robots de cocina
do you have a live chat plugin
I want to escalate an incident in the app
`
  .trim()
  .split("\n");

it.each(ordinary)("neither asks for a person nor is angry: %s", (text) => {
  expect(humanRequestIn(text, null)).toBeUndefined();
  expect(angerOf(text)).toBeLessThan(defaultSettings.angerToEscalate ?? 0);
});
