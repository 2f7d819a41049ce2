import {
  array,
  boolean,
  defaulted,
  doc,
  literal,
  object,
  optional,
  string,
  tagged,
  type Infer,
} from '../../../core/plugin.js'
import {
  assetAt,
  assetErrors,
  attachmentOf,
  attachmentParts,
  filesIn,
  placedAt,
  type Assets,
  type AttachmentRef,
  type OutputPart,
} from '../../media/assets/contract.js'
import { defineTool, failedCall, type Tool } from '../tools/contract.js'
import { callErrors, type Runs } from '../runs/contract.js'
import type { OutputDraft } from '../sessions/contract.js'

const AssetId = string({ min: 1, max: 200 })
const GivenPart = tagged('type', {
  text: object({ type: literal('text'), text: string() }),
  asset: object({ type: literal('asset'), asset_id: doc(AssetId, 'Id of a file, as its mention shows it.') }),
})

const EmitOutput = object({
  content: optional(doc(string(), 'Text to send out; left out where parts have text.')),
  parts: defaulted(doc(array(GivenPart, { max: 100 }), 'Text and files in the order in which they are shown.'), []),
  artifact_ids: defaulted(
    doc(array(AssetId, { max: 100 }), 'Ids of files to send along, as their mentions show them.'),
    [],
  ),
  include_artifacts_inline: optional(
    doc(boolean(), 'Whether artifacts are shown behind the parts too. Artifacts alone always are.'),
  ),
})

/** Files in one output: each is a record of the commit, and another one for each target. */
const mostFiles = 32

interface Services {
  readonly runs: () => Runs | undefined
  readonly assets: () => Assets | undefined
}

/**
 * The tool by which a model sends something out before its run ends. The output and the call's outcome are one commit,
 * so a repetition after a crash cannot send it twice.
 */
export const emitOutput = ({ runs, assets }: Services): Tool =>
  defineTool({
    name: 'emit_output',
    seldom: true,
    description: 'Sends text and files to the people who follow this session, before the run ends.',
    input: EmitOutput,
    effect: 'read',
    parallel: false,
    timeout_ms: 30_000,
    sandbox: 'inherited',
    run: (input, call) => {
      const output = outputOf(input, assets())
      const files = countFiles(output)
      if (files > mostFiles) return failedCall(callErrors.output_files_limit({ details: { limit: mostFiles } }))
      if (output.parts.length + files === 0) return failedCall(callErrors.output_empty())
      return { type: 'result', output: { accepted: true }, apply: (tx) => runs()?.output(tx, call.run_id, output) }
    },
  })

type Made = OutputDraft & { readonly parts: OutputPart[]; readonly artifacts?: AttachmentRef[] }

const countFiles = ({ parts, artifacts = [] }: Made): number =>
  new Set([...filesIn(parts), ...artifacts].map(({ id }) => id)).size

/** Throws `asset_not_found` with its place in the input, which the model is told. */
const fileIn = (assets: Assets | undefined, asset_id: string, path: string): AttachmentRef => {
  if (assets === undefined) throw placedAt(assetErrors.asset_not_found({ details: { asset_id } }), path)
  return attachmentOf(assetAt(assets, asset_id, path))
}

const isSaid = (part: OutputPart): boolean => part.type === 'text' && part.text.trim() !== ''

/** Blank parts are dropped. The content is what stands for the text of parts where they have none. */
const outputOf = (input: Infer<typeof EmitOutput>, assets: Assets | undefined): Made => {
  const { content = '', include_artifacts_inline = false } = input
  const given = input.parts.map((part, at): OutputPart =>
    part.type === 'text'
      ? part
      : { type: 'attachment', attachment: fileIn(assets, part.asset_id, `parts.${at}.asset_id`) },
  )
  const kept = given.filter((part) => part.type === 'attachment' || isSaid(part))
  const worded: OutputPart[] =
    kept.some(isSaid) || content.trim() === '' ? kept : [{ type: 'text', text: content }, ...kept]
  const ids = input.artifact_ids
  const artifacts = [...new Set(ids)].map((id) => fileIn(assets, id, `artifact_ids.${ids.indexOf(id)}`))
  const shown = new Set(filesIn(worded).map(({ id }) => id))
  const inline = include_artifacts_inline ? artifacts.filter(({ id }) => !shown.has(id)) : []
  return {
    content: '',
    parts: [...worded, ...attachmentParts(inline)],
    source_kind: 'emit_output',
    ...(artifacts.length > 0 && { artifacts }),
  }
}
