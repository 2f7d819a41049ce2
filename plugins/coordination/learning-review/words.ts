/** The words of a text that say something. Pure. */

const stopWords: ReadonlySet<string> = new Set('a an and are is of the to de des du est et la le les un une'.split(' '))
/** Words that turn what is said into its opposite. */
const denials: ReadonlySet<string> = new Set(
  'not no never none cannot without nor neither ne n pas non jamais aucun aucune sans ni'.split(' '),
)

const words = (text: string): readonly string[] =>
  text
    .normalize('NFC')
    .toLowerCase()
    // `isn't` denies as `is not` does.
    .replaceAll(/n['’]t(?![\p{L}\p{N}])/gu, ' not')
    .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
    .split(' ')
    .filter((word) => word !== '')

/** The words that count, without those of grammar. */
export const termsOf = (text: string): ReadonlySet<string> =>
  new Set(words(text).filter((word) => !stopWords.has(word)))

const none: ReadonlySet<string> = new Set()

/** True of a text that denies something, with another word than these. */
export const denies = (text: string, beside: ReadonlySet<string> = none): boolean =>
  [...termsOf(text)].some((term) => denials.has(term) && !beside.has(term))
