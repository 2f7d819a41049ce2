/** Asks the server: the conversation is posted, and the answer comes as plain text, piece by piece. */
import type { ModelConnection, ModelEvent, ModelFailure } from 'holdfast/plugins/execution/models'

const failed = (failure: ModelFailure): ModelEvent => ({ type: 'done', outcome: 'failed', failure })

const refused = (status: number): ModelEvent => {
  const retryable = status === 429 || status >= 500
  return failed({
    class: retryable ? 'overloaded' : 'bad_request',
    retryable,
    message: `It answered ${status}.`,
    status,
  })
}

const broken = ({ aborted }: AbortSignal): ModelEvent =>
  failed({ class: aborted ? 'aborted' : 'network', retryable: !aborted, message: 'The connection broke off.' })

export const connection = (url: string): ModelConnection => ({
  readiness: () => ({ state: 'ok', code: 'ready', message: 'Nothing is known against it.' }),
  async *stream({ model, system, messages }, signal) {
    let text = ''
    try {
      const body = JSON.stringify({ model, system, messages })
      const { status, body: pieces } = await fetch(url, { method: 'POST', body, signal })
      if (status !== 200 || pieces === null) return yield refused(status)
      for await (const piece of pieces.pipeThrough(new TextDecoderStream())) {
        text += piece
        yield { type: 'text_delta', text: piece }
      }
      const usage = { input_tokens: body.length >> 2, output_tokens: text.length >> 2 } // Better: what the server counts.
      yield { type: 'part', part: { type: 'text', text } }
      yield { type: 'done', outcome: 'stop', usage }
    } catch {
      yield broken(signal)
    }
  },
})
