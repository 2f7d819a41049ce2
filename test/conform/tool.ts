/** What every tool must keep. A tool's own test calls `checkTool` and then tests what is special to it. */
import type { ExecutionContext } from 'ava'
import { Ajv2020 } from 'ajv/dist/2020.js'
import fc from 'fast-check'
import { assert } from '../../core/base/assert.js'
import { parse } from '../../core/base/parse.js'
import { inlineSchema, inputSchema, unsafeCast, fieldSchemas, type Json } from '../../core/base/schema.js'
import type { Tool } from '../../plugins/execution/tools/contract.js'
import { callOf, codeOf, resultOf, runTool } from '../support/tools.js'

export interface ToolCase {
  readonly tool: Tool
  readonly workspace: string
  /** An input that works. */
  readonly good: Record<string, Json>
  /** An input that a model could correct: accepted by the struct, answered with `is_error`. */
  readonly correctable?: Record<string, Json>
  /** The field that takes a path, if one does. */
  readonly pathField?: string
  /** An input that would work for minutes. */
  readonly slow?: Record<string, Json>
  /** Most bytes of an answer to `good`; 16 MiB when absent. */
  readonly maxOutputBytes?: number
}

const propertiesOf = (tool: Tool): string[] => Object.keys(fieldSchemas(tool.input))

const checkDeclaration = (t: ExecutionContext, tool: Tool): void => {
  t.regex(tool.name, /^[a-z][a-z0-9_]{0,63}$/u)
  t.true(tool.description.length >= 20 && tool.description.length <= 2_000, 'a description that a model can use')
  t.true(['read', 'idempotent', 'once'].includes(tool.effect))
  t.true(Number.isInteger(tool.timeout_ms) && tool.timeout_ms > 0)
  t.false(
    tool.effect === 'read' && tool.sandbox === 'workspace_write',
    'a tool that only reads needs no right to write',
  )
  t.is(inlineSchema(tool.input)['type'], 'object')
  t.is(inlineSchema(tool.input)['additionalProperties'], false, 'unknown fields are refused')
}

/** The struct and the JSON Schema that the model sees accept the same inputs, with null for what may be left out. */
const checkAgreement = (t: ExecutionContext, { tool, good }: ToolCase): void => {
  const validate = new Ajv2020({ strict: false }).compile(inputSchema(tool.input))
  const agrees = (input: unknown): boolean => parse(tool.input, input).ok === validate(input)
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    fc.integer(),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('', ...Object.values(good)),
  )
  const field = fc.oneof(fc.constantFrom(...propertiesOf(tool), 'stranger'), fc.string())
  const input = fc
    .dictionary(field, value, { maxKeys: 5 })
    .chain((made) => fc.constantFrom<unknown>(made, { ...good, ...made }))
  fc.assert(
    fc.property(input, (made) => agrees(unsafeCast(JSON.parse(JSON.stringify(made))))),
    { numRuns: 300 },
  )
  t.true(agrees(good) && parse(tool.input, good).ok)
  for (const bad of [null, [], 'text', { ...good, stranger: 1 }, { ...good, stranger: { toString: 1 } }])
    t.false(parse(tool.input, bad).ok)
}

const checkAnswer = async (
  t: ExecutionContext,
  { tool, workspace, good, maxOutputBytes = 16 * 1024 * 1024 }: ToolCase,
): Promise<void> => {
  const parsed = parse(tool.input, good)
  assert(parsed.ok, 'the good input was refused')
  const outcome = await tool.run(parsed.value, callOf(workspace))
  if (outcome.type === 'ask') {
    t.true(outcome.ask.questions.length > 0)
    return
  }
  const { output, is_error } = resultOf(outcome)
  t.false(is_error, JSON.stringify(output))
  const text = JSON.stringify(output)
  t.deepEqual(JSON.parse(text), output, 'an output is plain JSON')
  t.true(Buffer.byteLength(text) <= maxOutputBytes)
}

const escapes = [
  '..',
  '../..',
  '../../etc/passwd',
  '/etc/passwd',
  'a/../../b',
  './../x',
  '/',
  '\0',
  'a\0b',
  'x'.repeat(4096),
]

const checkEscapes = async (t: ExecutionContext, { tool, workspace, good, pathField }: ToolCase): Promise<void> => {
  if (pathField === undefined) return
  for (const path of escapes) {
    const answer = await runTool(tool, { ...good, [pathField]: path }, callOf(workspace))
    t.true(answer.is_error, `${tool.name} went to ${JSON.stringify(path)}`)
    t.regex(String(codeOf(answer)), /^path_/u)
    t.false(JSON.stringify(answer.output).includes(workspace), 'an answer names no absolute path')
  }
}

const checkAbort = async (t: ExecutionContext, { tool, workspace, good, slow }: ToolCase): Promise<void> => {
  const aborted = AbortSignal.abort()
  const began = performance.now()
  await runTool(tool, good, callOf(workspace, { signal: aborted }))
  if (slow !== undefined) {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 200)
    await runTool(tool, slow, callOf(workspace, { signal: controller.signal }))
  }
  t.true(performance.now() - began < 15_000, `${tool.name} ended ${performance.now() - began} ms after its start`)
}

export const checkTool = async (t: ExecutionContext, tested: ToolCase): Promise<void> => {
  checkDeclaration(t, tested.tool)
  checkAgreement(t, tested)
  await checkAnswer(t, tested)
  if (tested.correctable !== undefined)
    t.true((await runTool(tested.tool, tested.correctable, callOf(tested.workspace))).is_error)
  await checkEscapes(t, tested)
  await checkAbort(t, tested)
}
