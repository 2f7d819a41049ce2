/** What runs were told as subjects of derivations: the words, and those of the files that came with them. */
import { digestBytes, integer, literal, object, Problem, string } from '../../../core/plugin.js'
import { sessionErrors, type Sessions } from '../../execution/sessions/contract.js'
import { fileLine, mostAssetBytes, type Assets, type AttachmentRef } from '../assets/contract.js'
import { derivationErrors } from './errors.js'
import { defineSubject, type SubjectKind } from './subject.js'

interface InputParts {
  readonly assets: Assets
  readonly sessions: () => Sessions | undefined
}
interface Told {
  readonly content: string
  readonly files: readonly AttachmentRef[]
}

const toldAt = (sessions: Sessions, session_id: string, offset: number): Told => {
  sessions.get(session_id)
  const [found] = sessions.journal.read(session_id, { after: offset - 1, limit: 1 })
  const entry = found?.seq === offset ? found.entry : undefined
  if (entry?.type !== 'event' || entry.event.type !== 'accepted')
    throw derivationErrors.session_input_not_found({ details: { session_id, offset } })
  const { content, files = [] } = entry.event
  return { content, files }
}

/** Undefined where it has none that can be read. */
const wordsOf = async (assets: Assets, { id }: AttachmentRef): Promise<Uint8Array | undefined> => {
  if (assets.find(id)?.text_uri === undefined) return undefined
  try {
    return await assets.read(id, 'text')
  } catch (error) {
    if (error instanceof Problem) return undefined
    throw error
  }
}

/** A run may be told of many files, each as large as a result may be: nothing is read that would not fit together. */
const checkSize = (assets: Assets, { content, files }: Told): void => {
  const sizes = files.map(({ id }) => assets.find(id)?.text_byte_length ?? 0)
  const bytes = sizes.reduce((sum, size) => sum + size, Buffer.byteLength(content))
  if (bytes <= mostAssetBytes) return
  const reason = `what the run was told has ${bytes} bytes as text, and ${mostAssetBytes} are the most`
  throw derivationErrors.derivation_invalid({
    details: { reason },
    errors: [{ path: 'body.subject', rule: `must have at most ${mostAssetBytes} bytes as text` }],
  })
}

const rendered = async (assets: Assets, { content, files }: Told): Promise<Buffer> => {
  const parts: Uint8Array[] = content.trim() === '' ? [] : [Buffer.from(content)]
  for (const file of files) {
    const words = await wordsOf(assets, file)
    if (parts.length > 0) parts.push(Buffer.from('\n\n'))
    parts.push(Buffer.from(fileLine(file)))
    if (words !== undefined) parts.push(Buffer.from('\n'), words)
  }
  return Buffer.concat(parts)
}

export const sessionInputSubject = ({ assets, sessions }: InputParts): SubjectKind =>
  defineSubject({
    type: 'session_input',
    struct: object({
      type: literal('session_input'),
      session_id: string({ min: 1, max: 200, pattern: '\\S' }),
      offset: integer({ min: 0 }),
    }),
    key: ({ session_id, offset }) => `session_input:${session_id}:${offset}`,
    async resolve({ session_id, offset }) {
      const service = sessions()
      if (service === undefined) throw sessionErrors.session_not_found({ details: { session_id } })
      const told = toldAt(service, session_id, offset)
      checkSize(assets, told)
      const words = await rendered(assets, told)
      return { fingerprint: await digestBytes(words), words: words.toString('utf8') }
    },
  })
