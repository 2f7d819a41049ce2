/** Models that speak at a pace, heard through the daemon and directly. */
import { createParser } from 'eventsource-parser'
import { Agent, request } from 'undici'
import { prepare } from './bench.js'
import { send, watchRuns } from './load.js'
import type { Server } from './server.js'

/** Somebody through whom models are heard. */
export interface Speakers {
  /** Lets one model speak to its end. Its `name` says how much and how fast. */
  speak(n: number, name: string): Promise<void>
  /** Deltas heard so far. */
  count(): number
  /** How long each of them was under way, milliseconds; forgets them. */
  lags(): number[]
  /** The same of the first delta of each answer alone. */
  firstLags(): number[]
  /** Milliseconds of CPU time of the process that asks the models. */
  cpu(): number
  close(): void
}

/** The model says when it sent a delta. Only whole stamps count: a text may end within one. */
const stamps = /(first )?at (\d+\.\d\d) /gu

const createEar = () => {
  let count = 0
  let lags: number[] = []
  let firstLags: number[] = []
  const hear = (text: string): void => {
    const now = performance.timeOrigin + performance.now()
    for (const [, first, sent] of text.matchAll(stamps)) {
      count += 1
      lags.push(now - Number(sent))
      if (first !== undefined) firstLags.push(now - Number(sent))
    }
  }
  const takeFirstLags = (): number[] => {
    const taken = firstLags
    firstLags = []
    return taken
  }
  const takeLags = (): number[] => {
    const taken = lags
    lags = []
    return taken
  }
  return { hear, count: () => count, lags: takeLags, firstLags: takeFirstLags }
}

const dispatcher = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

/** Gives the data of each event of a stream. */
export const readEvents = async (body: AsyncIterable<unknown>, onEvent: (data: string) => void): Promise<void> => {
  const parser = createParser({ onEvent: ({ data }) => onEvent(data) })
  for await (const chunk of body) parser.feed(String(chunk))
}

/** This process asks: the least that a delta can cost here. */
export const directSpeakers = (model: string): Speakers => {
  const { hear, ...heard } = createEar()
  const take = (data: string): void => {
    if (data === '[DONE]') return
    const { choices } = JSON.parse(data) as { choices: { delta: { content?: string } }[] }
    hear(choices[0]?.delta.content ?? '')
  }
  return {
    ...heard,
    async speak(_, name) {
      const { body } = await request(`${model}/v1/chat/completions`, {
        method: 'POST',
        dispatcher,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ model: name, messages: [], stream: true }),
      })
      await readEvents(body, take)
    },
    cpu() {
      const { user, system } = process.cpuUsage()
      return (user + system) / 1000
    },
    close: () => undefined,
  }
}

/** The daemon asks, each model in a session of its own; one client follows all of them. */
export const daemonSpeakers = async ({ url, cpu }: Server, most: number): Promise<Speakers> => {
  await prepare(url, 'speaker-', most)
  const stop = new AbortController()
  const { hear, ...heard } = createEar()
  const { body } = await request(`${url}/v1/events/stream?include=deltas`, { signal: stop.signal, dispatcher })
  readEvents(body, (data) => {
    if (!data.includes('"model_text_delta"')) return
    const { trace } = JSON.parse(data) as { trace: { kind: { text: string } } }
    hear(trace.kind.text)
  }).catch((error: unknown) => {
    if (!stop.signal.aborted) throw error
  })
  const watch = await watchRuns(url)
  return {
    ...heard,
    async speak(n, name) {
      const { run_id } = await send(`${url}/v1/sessions/speaker-${n}/runs`, {
        content: 'speak',
        generation: { model: name },
      })
      await watch.completed(run_id)
    },
    cpu,
    close() {
      watch.close()
      stop.abort()
    },
  }
}
