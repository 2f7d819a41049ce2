/**
 * The table of a server that a file of the workspace names, without the values that may be secrets: they are named as
 * secrets that are to be stored. What is certainly harmless stays as it is.
 */
import {
  isJsonObject,
  looksSecret,
  secretsInArgument,
  tellsOfSecret,
  type Json,
  type JsonObject,
} from '../../../../core/plugin.js'
import { literalsIn } from '../config/literals.js'

/** A table, and the secrets that it refers to and that nobody has stored yet. */
export interface Taken {
  readonly entry: JsonObject
  readonly secret_refs: readonly string[]
  /** True if secrets stood in arguments or the address, where no table can name one. */
  readonly is_cut: boolean
}

/** In place of what no table can name. */
export const cutValue = '<secret>'

/** Switches, short numbers, levels, places, languages and types: all that a password is not likely to be. */
const harmless = [
  /^(?:true|false|yes|no|on|off|\d{1,5})$/iu,
  /^(?:debug|info|warn|warning|error|production|development|test|utf-?8)$/iu,
  /^[a-z]{2}_[A-Z]{2}(?:\.UTF-8)?$/u,
  /^(?:\.{0,2}\/[\w.-]{1,40}){1,20}$/u,
  /^application\/[\w.+-]{1,40}$/u,
]

const isHarmless = (name: string, value: Json | undefined): boolean =>
  !tellsOfSecret(name) && typeof value === 'string' && harmless.some((form) => form.test(value)) && !looksSecret(value)

/** The name that a secret is to be stored under: what no name may have in it is left out. */
const refOf = (server: string, name: string): string => `mcp.${server}.${name}`.replaceAll(/[^A-Za-z0-9._-]/gu, '')

/** Those of a member that stay, and the references of the others. */
const parted = (server: string, values: Json | undefined) => {
  const all = isJsonObject(values) ? Object.entries(values) : []
  const stays = all.filter(([name, value]) => isHarmless(name, value))
  const goes = all.filter(([name, value]) => !isHarmless(name, value))
  const refs = goes.map(([name]) => [name, refOf(server, name)] as const)
  return { stays: Object.fromEntries(stays), refs: Object.fromEntries(refs) }
}

const some = (member: string, table: JsonObject): JsonObject =>
  Object.keys(table).length === 0 ? {} : { [member]: table }

/** Texts alone: a value of another type is no table of the list, which is told with its problem. */
const texts = (values: Json | undefined): string[] | undefined =>
  Array.isArray(values) && values.every((value) => typeof value === 'string') ? values : undefined

/** The longest first: one may begin another. */
const without = (text: string, secrets: readonly string[]): string =>
  secrets
    .toSorted((a, b) => b.length - a.length)
    .reduce((left, secret) => (secret === '' ? left : left.replaceAll(secret, cutValue)), text)

/** In quotes or behind escapes a value is not written as it is read. */
const stillTells = (left: string): boolean => secretsInArgument(left).some((value) => !value.includes(cutValue))

/** Arguments may be of any form: one that looks like a secret is left out whole. */
const cleaned = (text: string, secrets: readonly string[]): string => {
  const left = without(text, secrets)
  return left.split(cutValue).some(looksSecret) || stillTells(left) ? cutValue : left
}

/** The table as it may be shown and kept. */
export const takenFrom = (server: string, entry: JsonObject): Taken => {
  const { command, args, cwd, url } = entry
  const given = texts(args)
  const secrets = literalsIn([command, ...(given ?? []), url].filter((text) => typeof text === 'string'))
  const shown = (value: Json | undefined): Json | undefined =>
    typeof value === 'string' ? cleaned(value, secrets) : undefined
  const [variables, headers] = [parted(server, entry['env']), parted(server, entry['headers'])]
  const plain = Object.entries({
    command: shown(command),
    args: given?.map((arg) => cleaned(arg, secrets)),
    cwd: shown(cwd),
    url: shown(url),
  })
  const table: JsonObject = {
    ...Object.fromEntries(plain.filter(([, value]) => value !== undefined)),
    ...some('env', variables.stays),
    ...some('env_secret_refs', variables.refs),
    ...some('headers', headers.stays),
    ...some('http_header_secret_refs', headers.refs),
  }
  return {
    entry: table,
    secret_refs: [...new Set([...Object.values(variables.refs), ...Object.values(headers.refs)])],
    is_cut: JSON.stringify([table['command'], table['args'], table['url']]).includes(cutValue),
  }
}
