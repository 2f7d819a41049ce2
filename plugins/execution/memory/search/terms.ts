/** Words of a text as a search compares them (memory-13). */

/**
 * Case, compatibility forms, accents and the kind of blank do not count. The marks of other scripts, which change a
 * letter into another, stay.
 */
export const fold = (text: string): string =>
  (isAscii(text) ? text.toLowerCase() : foldAll(text)).replaceAll(/\s+/gu, ' ')
const isAscii = (text: string): boolean => !/[^!-~\s]/u.test(text)
const foldAll = (text: string): string =>
  text
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]+/gu, '')
    .normalize('NFC')
    .toLowerCase()

/** Scripts that put no blanks between words. */
const scripts = ['Han', 'Hiragana', 'Katakana', 'Thai', 'Lao', 'Khmer', 'Myanmar']
const unspaced = new RegExp(`[${scripts.map((script) => `\\p{Script=${script}}`).join('')}]`, 'u')
let segmenter: Intl.Segmenter | undefined
/** Made when it is first needed: it takes a tenth of a second, which a start does not have. */
const segmenterOf = (): Intl.Segmenter => (segmenter ??= new Intl.Segmenter('en', { granularity: 'word' }))
const segments = (part: string): string[] =>
  [...segmenterOf().segment(part)].flatMap(({ segment, isWordLike }) => (isWordLike === true ? [segment] : []))

const stopWords: ReadonlySet<string> = new Set(
  [
    'a an and are as at be been but by can could did do does for from had has have how i if in into is it its ' +
      'me my of on or our please reply exactly now so than that the their them then there these they this those ' +
      'to was we were what when where which who whom whose why will with would you your',
    'au aux avec c ce ces cette comment d dans de des du elle elles en es est et etait ete etre eu il ils j je ' +
      'l la le les leur leurs lui m ma mais mes moi mon n ne nos notre nous on ont ou par pas pour pourquoi qu ' +
      'quand que quel quelle quelles quels qui quoi s sa sans se ses son sont sur t ta te tes toi ton tu un une ' +
      'vos votre vous y maintenant exactement reponds repondre repondez',
  ].flatMap((words) => words.split(' ')),
)

/** True if a text is a part of a word that says nothing. */
export const isStopPart = (text: string): boolean => [...stopWords].some((word) => word.includes(text))

/** Every term of a text, without words that say nothing. May hold one several times. */
export const termsOf = (text: string): string[] => {
  const folded = fold(text)
  const parts = isAscii(folded)
    ? (folded.match(/[a-z0-9]+/gu) ?? [])
    : (folded.match(/[\p{L}\p{N}\p{M}]+/gu) ?? []).flatMap((part) => (unspaced.test(part) ? segments(part) : [part]))
  return parts.filter((term) => !stopWords.has(term))
}
