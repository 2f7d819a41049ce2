/**
 * Names that tell of a secret. How sure one must be differs: a setting of ours is named by us, text is written by
 * anybody, and a variable or header that is taken for a secret costs little.
 */

/** What secrets are called in one word, in settings of ours. */
const words = ['key', 'token', 'secret', 'password'] as const

/** What they are called in several. */
export const compounds: readonly string[] = [
  'access token',
  'account key',
  'api key',
  'auth token',
  'bearer token',
  'client secret',
  'personal access token',
  'private key',
  'refresh token',
  'secret access key',
  'secret key',
  'secret token',
  'shared access key',
]

/** Ends of a name in text, as words: `secret access key` is told by its shape alone, `key` is too common. */
const ends = [
  ...compounds.filter((name) => name !== 'secret access key'),
  ...words.filter((name) => name !== 'key' && name !== 'secret'),
  'clientsecret',
  'passphrase',
  'pat',
  'personalaccesstoken',
  'privatekey',
].map((name) => ` ${name}`)

/** `"accessToken"`, `access-token` and `ACCESS_TOKEN` as words. */
const wordsOf = (key: string): string =>
  key
    .replaceAll(/([a-z])([A-Z])/gu, '$1 $2')
    .replaceAll(/[^A-Za-z0-9]+/gu, ' ')
    .trim()
    .toLowerCase()

/** True for a line such as `api_key: x`. */
export const namesSecret = (line: string): boolean => {
  const at = line.search(/[:=]/u)
  if (at < 1 || line.slice(at + 1).trim() === '') return false
  const name = ` ${wordsOf(line.slice(0, at))}`
  return ends.some((end) => name.endsWith(end))
}

/** True for the name of a field whose value is a secret: `api_key`, `accessToken`, `DB_PASSWORD`. */
export const isSecretName = (name: string): boolean => namesSecret(`${name}:x`) || /(?:^|[^a-z])secret$/iu.test(name)

/** Keys that everybody may know; `monkey` is none at all. */
const known = new RegExp(
  '(?:^|[^a-z])(?:public|primary|foreign|sort|partition|routing|cache|hot|short ?cut|idempotency|unique|index|group|' +
    'row|i18n|translation) ?key$',
  'u',
)
const compound = compounds.map((name) => name.replaceAll(' ', '[^A-Za-z]?')).join('|')
const compoundEnd = new RegExp(`(?:${compound})$`, 'iu')
/** True for a key that is one of a lock: `api_key`, `SECRETKEY`. */
export const isSecretKey = (name: string): boolean => compoundEnd.test(name)

const tellingEnd = new RegExp(
  '(?:token|secret|password|passwd|passphrase|cred(?:ential)?s?|bearer|auth|authorization|cookie|session|signature|' +
    `_pat|(?:^|[^A-Za-z])key|${compound}|` +
    '(?:^|[-_])(?:pass|pwd|pin|otp|jwt|dsn))$',
  'iu',
)
/** True for the name of a variable or header whose value is likely a secret: `KEY`, `AUTHORIZATION`, `x-auth`. */
export const tellsOfSecret = (name: string): boolean =>
  (tellingEnd.test(name) || /[a-z0-9]Key$/u.test(name)) && !known.test(wordsOf(name))

const settingEnd = new RegExp(`(?:^|[-_])(?:${words.join('|')})$`, 'u')
/** True for the name of a setting or a flag of ours that holds a secret: `secrets_key`, `http-admin-token`. */
export const isSecretSetting = (name: string): boolean => settingEnd.test(name)
