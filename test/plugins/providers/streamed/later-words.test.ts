/** What servers of each protocol say of an answer behind its end. */
import test from 'ava'
import * as anthropic from '../../../support/anthropic-server.js'
import * as google from '../../../support/google-server.js'
import * as openai from '../../../support/responses-server.js'
import { answerEnd } from '../../../../plugins/execution/runs/contract.js'
import { vendors } from '../../../support/vendors.js'
import { classOf, converseWith, transport, type Spoken } from '../../../support/model-client.js'
import { chunk, stream, type Chunk } from '../../../support/openai-server.js'

test.after.always(() => transport.close())

const call = { id: 'x', name: 'f', input: '{}' }
const piece = { index: 0, id: 'x', function: { name: 'f', arguments: '{}' } }
const reason = (stop_reason: string): string => anthropic.event('message_delta', { delta: { stop_reason } })
const cut = { incomplete_details: { reason: 'max_output_tokens' } }
const filtered = { incomplete_details: { reason: 'content_filter' } }
const error = { code: 'server_error', message: 'It broke.' }

interface Speech {
  /** A whole answer that makes a call. */
  readonly whole: readonly Chunk[]
  /** What comes behind it, and what the answer is then. */
  readonly later: readonly (readonly [Chunk, string])[]
}

const [isCut, isFiltered, isBroken, isWhole] = [
  'no failure but length',
  'bad_request final',
  'overloaded retryable',
  'no failure but tool_calls',
] as const

const chats: Speech = {
  whole: [chunk({ tool_calls: [piece] }), chunk({}, 'tool_calls')],
  later: [
    [chunk({}, 'length'), isCut],
    [chunk({}, 'content_filter'), isFiltered],
    [chunk({}, 'error'), isBroken],
    [chunk({}, 'stop'), isWhole],
    [chunk({}, 'of_later_times'), isWhole],
  ],
}
const responses: Speech = {
  whole: [openai.begun(), openai.callItem(0, call), openai.ended('completed')],
  later: [
    [openai.ended('incomplete', cut), isCut],
    [openai.ended('incomplete', filtered), isFiltered],
    [openai.ended('completed', { status: 'incomplete', ...cut }), isCut],
    [openai.ended('failed', { error }), isBroken],
    [openai.ended('completed', { status: 'failed', error }), isBroken],
    [openai.event('error', error), isBroken],
    [openai.ended('cancelled'), isBroken],
    [openai.ended('completed'), isWhole],
    [openai.callItem(1, { ...call, id: 'y' }), isWhole],
    [`data: [DONE]\n\n${openai.ended('failed', { error })}`, isWhole],
  ],
}
const speeches: Readonly<Record<Spoken, Speech>> = {
  openai_compatible: chats,
  openrouter: chats,
  openai: responses,
  xai: responses,
  anthropic: {
    whole: [anthropic.messageStart(), anthropic.callBlock(0, call), reason('tool_use')],
    later: [
      [reason('max_tokens'), isCut],
      [reason('model_context_window_exceeded'), isCut],
      [reason('refusal'), isFiltered],
      [anthropic.event('error', { error: { type: 'api_error', message: 'It broke.' } }), isBroken],
      [reason('end_turn'), isWhole],
      [anthropic.event('message_stop') + reason('max_tokens'), isWhole],
    ],
  },
  google: {
    whole: [google.content(google.callPart(call)), google.ending('STOP')],
    later: [
      [google.ending('MAX_TOKENS'), isCut],
      [google.ending('SAFETY'), isFiltered],
      [{ promptFeedback: { blockReason: 'SAFETY' } }, isFiltered],
      [google.ending('MALFORMED_FUNCTION_CALL'), 'invalid_output retryable'],
      [{ error: { code: 500, message: 'It broke.' } }, isBroken],
      [google.ending('FINISH_REASON_UNSPECIFIED'), isWhole],
      [google.ending('OF_LATER_TIMES'), isWhole],
    ],
  },
}

const spokenBy = ['openai_compatible', 'openrouter', 'anthropic', 'google', 'openai', 'xai'] as const
for (const spoken of spokenBy) {
  const { whole, later } = speeches[spoken]
  test(`models-70: behind its end a word that makes an answer less than whole counts, and no other: ${spoken}`, async (t) => {
    for (const [word, expected] of [['', isWhole] as const, ...later]) {
      const { ask } = await converseWith(t, stream(...whole, word), { spoken })
      t.is(classOf(await ask()), expected, JSON.stringify(word))
    }
  })
  test(`models-24, models-70: what is cut stays so, whatever stands behind it: ${spoken}`, async (t) => {
    const [first] = later.find(([, made]) => made === isCut) ?? ['']
    for (const [word, expected] of later.filter(([, made]) => made !== isBroken)) {
      const { ask } = await converseWith(t, stream(...whole.slice(0, -1), first, word), { spoken })
      t.is(classOf(await ask()), isCut, `${JSON.stringify(word)} ${expected}`)
    }
  })
}

for (const { provider, saying } of vendors)
  test(`runs-57: an answer with nothing in it is whole for its protocol, and empty for its run: ${provider}`, async (t) => {
    const spoken = spokenBy.find((name) => name === provider) ?? 'xai'
    const { ask } = await converseWith(t, saying(''), { spoken })
    const answer = await ask()
    t.deepEqual([classOf(answer), answerEnd(answer.parts, {})], ['no failure but stop', 'empty'])
  })
