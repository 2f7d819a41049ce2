import { pino } from 'pino'
import { redactedAsRead } from '../words/as-read.js'
import { redactedTo } from '../words/redacted-to.js'
import type { Secrets } from './secrets.js'
import { causeOf, isError, messageOf, nameOf, placesOf, stackOf, thrownText } from './thrown.js'
import { visible, visibleBlock, visibleLine } from './visible.js'

/**
 * One line per fact. Levels as in pino. Never put a secret, a token or a body into a line; known secret values are
 * redacted anyway, also as they are read.
 */
export interface Log {
  debug(fact: string, details?: Readonly<Record<string, unknown>>): void
  info(fact: string, details?: Readonly<Record<string, unknown>>): void
  warn(fact: string, details?: Readonly<Record<string, unknown>>): void
  error(fact: string, details?: Readonly<Record<string, unknown>>): void
}

export interface LogOptions {
  readonly level: 'debug' | 'info' | 'warn' | 'error'
  readonly format: 'json' | 'pretty'
  readonly secrets: Secrets
  /** Takes one line with its newline. */
  readonly write: (line: string) => void
}

/**
 * Characters of the message of an error, of what its stack begins with, and of the places there: with causes, each of
 * which has half as many, some 16 KiB in all.
 */
const mostOfError = 3 * 1024
/** No more of a cause is worth telling. */
const leastOfError = 256

/**
 * What an error may say in a line: never its own properties, which libraries fill with requests and headers. What is
 * too long is cut, visibly, and redacted before: half a secret looks like none.
 */
const describing = (redact: (text: string) => string) => {
  const cut = (text: string, most: number): string =>
    text.length <= most ? text : `${redactedTo(text, most, redact)}… (cut, of ${text.length} characters)`
  const describe = (error: unknown, most: number): unknown => {
    if (!isError(error)) return cut(thrownText(error), most)
    const inner = causeOf(error)
    const cause = inner === undefined || most < leastOfError ? {} : { cause: describe(inner, most / 2) }
    const stack = stackOf(error)
    const told = stack && (stack.length <= 2 * most ? stack : `${cut(stack, most)}\n${placesOf(stack, most)}`)
    return { type: nameOf(error), message: cut(messageOf(error), most), stack: told, ...cause }
  }
  return (error: unknown): unknown => describe(error, mostOfError)
}

interface Line {
  readonly level: string
  readonly time: number
  readonly msg: string
  readonly [key: string]: unknown
}

const two = (n: number): string => String(Math.floor(n) % 60).padStart(2, '0')
/** Time of day, UTC. */
const face = (ms: number): string => {
  const hours = String(Math.floor(ms / 3_600_000) % 24).padStart(2, '0')
  return `${hours}:${two(ms / 60_000)}:${two(ms / 1000)}.${String(ms % 1000).padStart(3, '0')}`
}

const text = (value: unknown): string => (typeof value === 'string' ? visibleLine(value) : JSON.stringify(value))

/** `12:00:00.000 info  fact  key=value`, with an error's stack below. */
const prettyLine = ({
  level,
  time,
  msg,
  error,
  ...details
}: Line & { readonly error?: { readonly stack?: string } | string }): string => {
  const pairs = Object.entries(details).map(([key, value]) => `${visibleLine(key)}=${text(value)}`)
  const below =
    typeof error === 'object'
      ? `\n  ${visibleBlock(error.stack ?? text(error), 2)}`
      : error === undefined
        ? ''
        : ` ${text(error)}`
  return `${[face(time), level.padEnd(5), visibleLine(msg), ...pairs].join(' ')}${below}\n`
}

export const createLog = ({ level, format, secrets, write }: LogOptions): Log => {
  const shape = (line: string): string => (format === 'json' ? line : prettyLine(JSON.parse(line)))
  const destination = { write: (line: string): void => write(visible(redactedAsRead(shape(line), secrets.redact))) }
  const describe = describing(secrets.redact)
  const logger = pino(
    {
      level,
      base: null,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: describe, err: describe },
    },
    destination,
  )
  return {
    debug: (fact, details = {}) => logger.debug(details, fact),
    info: (fact, details = {}) => logger.info(details, fact),
    warn: (fact, details = {}) => logger.warn(details, fact),
    error: (fact, details = {}) => logger.error(details, fact),
  }
}
