/** Secrets in code, and in files of data: values in quotes behind a name that tells of one. */
import { valuesNamed } from './named-values.js'

/** `"password": "x"`, `$password = 'x'`, `os.environ["API_TOKEN"]="x"`, `{Authorization: "Bearer x"}`. */
const member = new RegExp(
  '(?<![\\w.$-])(?<sign>\\$?)(?<name>[A-Za-z_][\\w.-]{0,100})(?<end>["\'\\]]{0,2})\\s{0,20}(?:=>|:=|[:=])\\s{0,20}' +
    `(?<value>"(?:[^"\\\\]|\\\\.)*"|'(?:[^'\\\\]|\\\\.)*'|\\[[^[\\]{}]{0,4096}\\])`,
  'gsu',
)

/** What a quoted text says, as JSON reads it; if it is none, what stands between the quotes. */
export const unescaped = (quoted: string): string => {
  try {
    return String(JSON.parse(quoted))
  } catch {
    return quoted.slice(1, -1)
  }
}

/** Of a list each. */
const texts = (value: string): readonly string[] =>
  value.startsWith('[') ? (value.match(/"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'/gsu) ?? []) : [value]

/** A variable in quotes is compared, as in `[ "$MODE" = "x" ]`. */
export const secretsInCode = (text: string): string[] =>
  [...text.matchAll(member)].flatMap(({ groups: { sign = '', name = '', end = '', value = '' } = {} }) =>
    sign === '$' && end !== '' ? [] : texts(value).flatMap((text) => valuesNamed(name, unescaped(text))),
  )
