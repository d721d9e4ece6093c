interface Piece {
  readonly fits: (character: string) => boolean;
  readonly repeats: boolean;
}

const isDigit = (character: string): boolean => /^[0-9]$/.test(character);
const isLetter = (character: string): boolean => /^\p{L}$/u.test(character);

/** How long a text can be that is compared with a shape. */
const shapeCharactersMax = 100;

function piecesOf(shape: string): Piece[] {
  const pieces: Piece[] = [];
  for (const character of shape) {
    const last = pieces.at(-1);
    if (character === "+" && last !== undefined) pieces[pieces.length - 1] = { ...last, repeats: true };
    else if (character === "#") pieces.push({ fits: isDigit, repeats: false });
    else if (character === "@") pieces.push({ fits: isLetter, repeats: false });
    else if (character === "*") pieces.push({ fits: (each) => isDigit(each) || isLetter(each), repeats: false });
    else pieces.push({ fits: (each) => each.toLowerCase() === character.toLowerCase(), repeats: false });
  }
  return pieces;
}

/**
 * Whether a text is written as a shape says: # a digit, @ a letter, * either, + behind one of them for one or more, all
 * else as it is, in any case. Takes time by the lengths of both, whatever they are: all ways to read it are followed at
 * once.
 */
export function fitsShape(text: string, shape: string): boolean {
  const characters = [...text];
  if (characters.length === 0 || characters.length > shapeCharactersMax) return false;
  const pieces = piecesOf(shape);
  let places = new Set([0]);
  for (const character of characters) {
    const next = new Set<number>();
    for (const place of places) {
      const piece = pieces[place];
      if (piece !== undefined && piece.fits(character)) {
        next.add(place + 1);
        if (piece.repeats) next.add(place);
      }
    }
    if (next.size === 0) return false;
    places = next;
  }
  return places.has(pieces.length);
}
