/** What makers may answer: for plugins that no compiler has checked. */
import {
  awaitedByCaller,
  fault,
  hasMembers,
  optional,
  open,
  record,
  refusing,
  string,
  taken,
  unsendableHeader,
  visibleLine,
  type Answers,
} from '../../../core/plugin.js'
import { TakenUsage } from '../../execution/models/contract.js'
import { mostMade, type Made, type MediaMaker } from './wishes.js'

/** Bytes of all files that come of one wish, as much as an answer of a server may have. */
export const mostAnswer = 32 * 1024 * 1024

const Told = open({ usage: optional(TakenUsage), revised_prompt: optional(string()) })
const Headers = record(string({ max: 16_384 }))

/** They are the connection's: a request that has one of them is not sent. */
const ofConnection: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'expect',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
])

const takenHeaders = (answer: unknown): Readonly<Record<string, string>> => {
  const headers = taken(Headers, answer)
  const odd = unsendableHeader(headers) ?? Object.keys(headers).find((name) => ofConnection.has(name.toLowerCase()))
  if (odd !== undefined) throw fault(`the header "${visibleLine(odd).slice(0, 80)}" that it returned cannot be sent`)
  return headers
}

const isBytes = (file: unknown): file is Uint8Array => file instanceof Uint8Array && file.length > 0

const takenMade = (answer: unknown): Made => {
  if (typeof answer !== 'object' || answer === null) throw fault('what it returned is nothing that was made')
  const { files, usage, revised_prompt } = { files: undefined, usage: undefined, revised_prompt: undefined, ...answer }
  const given: unknown = files
  if (!Array.isArray(given) || given.length === 0 || given.length > mostMade)
    throw fault(`the files that it returned are no list of 1 to ${mostMade}`)
  const made = [...given].filter(isBytes)
  if (made.length < given.length) throw fault('a file that it returned is no Uint8Array, or an empty one')
  if (made.reduce((sum, { length }) => sum + length, 0) > mostAnswer)
    throw fault(`the files that it returned have more than ${mostAnswer} bytes`)
  return { ...taken(Told, { usage, revised_prompt }), files: made.map((bytes) => Buffer.from(bytes)) }
}

const make = awaitedByCaller(refusing(takenMade))

export const makerAnswers: Answers<MediaMaker> = {
  headers: refusing(takenHeaders),
  pictures: { make },
  speech: { make },
}

const isMaker = hasMembers<MediaMaker>('a maker of pictures or speech', {
  provider: 'id',
  base_url: 'text?',
  headers: 'function',
  pictures: 'object?',
  speech: 'object?',
})
const able = { model: 'text?', make: 'function' } as const
const makesPictures = hasMembers<unknown>('the pictures of a maker', able)
const makesSpeech = hasMembers<unknown>('the speech of a maker', able)

/** What is wrong with a maker, as the check of its point says it. */
export const wrongMaker = (maker: MediaMaker): string | undefined =>
  isMaker(maker) ?? (maker.pictures && makesPictures(maker.pictures)) ?? (maker.speech && makesSpeech(maker.speech))
