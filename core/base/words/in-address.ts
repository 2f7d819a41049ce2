/** Secrets in an address: what stands before its `@`, and parameters whose names tell of one. */
import { tellsOfSecret } from './secret-names.js'

const userinfo = /:\/\/(?<user>[^\s/:@?#]*)(?::(?<password>[^\s/@?#]*))?@/gu
const parameter = /[?&#;](?<name>[^\s=&#;?]+)=(?<value>[^\s&#;"']+)/gu

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** As they are written and decoded, of all addresses in a text. Who has no password is named by a token. */
export const secretsInAddress = (text: string): string[] => {
  const people = [...text.matchAll(userinfo)].map(({ groups }) => groups?.['password'] ?? groups?.['user'])
  const told = [...text.matchAll(parameter)].flatMap(({ groups }) =>
    tellsOfSecret(decoded(groups?.['name'] ?? '')) ? [groups?.['value']] : [],
  )
  return [...people, ...told].flatMap((value) => (value === undefined ? [] : [value, decoded(value)]))
}
