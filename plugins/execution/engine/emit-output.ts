import { array, boolean, defaulted, doc, literal, object, optional, string, tagged } from '../../../core/plugin.js'
import { defineTool, failedCall, type Tool } from '../tools/contract.js'
import { callErrors, type Runs } from '../runs/contract.js'
import type { OutputDraft } from '../sessions/contract.js'

const EmitOutput = object({
  content: optional(doc(string(), 'Text to send out.')),
  parts: defaulted(
    array(tagged('type', { text: object({ type: literal('text'), text: string() }) }), { max: 100 }),
    [],
  ),
  artifact_ids: defaulted(
    doc(array(string({ max: 200 }), { max: 0 }), 'Files to send along. Empty while no plugin keeps assets.'),
    [],
  ),
  include_artifacts_inline: optional(
    doc(boolean(), 'Whether files go into the output itself. Means nothing without any.'),
  ),
})

/**
 * The tool by which a model sends something out before its run ends. The output and the call's outcome are one commit,
 * so a repetition after a crash cannot send it twice.
 */
export const emitOutput = (runs: () => Runs | undefined): Tool =>
  defineTool({
    name: 'emit_output',
    description: 'Sends text to the people who follow this session, before the run ends.',
    input: EmitOutput,
    effect: 'read',
    parallel: false,
    timeout_ms: 30_000,
    sandbox: 'inherited',
    run: (input, call) => {
      const output = outputOf(
        input.content,
        input.parts.map((part) => part.text),
      )
      if (output === undefined) return failedCall(callErrors.output_empty())
      return { type: 'result', output: { accepted: true }, apply: (tx) => runs()?.output(tx, call.run_id, output) }
    },
  })

/** Blank parts are dropped; the content comes first. */
const outputOf = (content: string | undefined, texts: readonly string[]): OutputDraft | undefined => {
  const kept = [...(content === undefined ? [] : [content]), ...texts].filter((text) => text.trim() !== '')
  if (kept.length === 0) return undefined
  return {
    content: kept.map((text) => text.trim()).join('\n'),
    parts: kept.map((text) => ({ type: 'text', text })),
    source_kind: 'emit_output',
  }
}
