/** Secrets in an address: what stands before its `@`, and parameters whose names tell of one. */
import { valuesNamed } from './named-values.js'

const userinfo = /:\/\/(?<user>[^\s/:@?#]*)(?::(?<password>[^\s/@?#]*))?@/gu
const parameter = /[?&#;](?<name>[^\s=&#;?]+)=(?<value>[^\s&#;"']+)/gu

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** `sig` is a signature in addresses alone. */
const isSecretParameter = (name: string, value: string): boolean =>
  name === 'sig' || valuesNamed(name, value).length > 0

/** As they are written and decoded, of all addresses in a text. Who has no password is named by a token. */
export const secretsInAddress = (text: string): string[] => {
  const people = [...text.matchAll(userinfo)].map(({ groups }) => groups?.['password'] ?? groups?.['user'])
  const told = [...text.matchAll(parameter)].flatMap(({ groups }) =>
    isSecretParameter(decoded(groups?.['name'] ?? ''), groups?.['value'] ?? '') ? [groups?.['value']] : [],
  )
  return [...people, ...told].flatMap((value) => (value === undefined ? [] : [value, decoded(value)]))
}
