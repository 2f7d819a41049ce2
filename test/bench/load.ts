/** The load: one client for the floor and for the daemon alike. */
import { Agent, request, setGlobalDispatcher } from 'undici'

setGlobalDispatcher(new Agent({ connections: 300, pipelining: 1, bodyTimeout: 0, headersTimeout: 60_000 }))

export interface Sample {
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly submitP50: number
  readonly submitP99: number
  readonly count: number
}

export const quantile = (values: readonly number[], q: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

export const send = async (url: string, body: object): Promise<{ run_id: string }> => {
  const answer = await request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const text = await answer.body.text()
  if (answer.statusCode >= 300) throw new Error(`${answer.statusCode} ${text}`)
  return JSON.parse(text) as { run_id: string }
}

/** Milliseconds that one POST takes, its answer read. */
export const timeOf = async (url: string, body: object): Promise<number> => {
  const begin = performance.now()
  await send(url, body)
  return performance.now() - begin
}

/** Follows every event and tells who waits when a run is completed. */
export const watchRuns = async (base: string): Promise<{ completed(run_id: string): Promise<void>; close(): void }> => {
  const done = new Set<string>()
  const waiters = new Map<string, { readonly resolve: () => void; readonly reject: (error: Error) => void }>()
  const stop = new AbortController()
  const { body } = await request(`${base}/v1/events/stream`, { signal: stop.signal })
  const take = (frame: string): void => {
    const status = frame.includes('event: run_updated') ? /"status":"(completed|failed)"/u.exec(frame)?.[1] : undefined
    const id = status && /"run_id":"([^"]+)"/u.exec(frame)?.[1]
    if (id === undefined) return
    const waiter = waiters.get(id)
    waiters.delete(id)
    if (status === 'failed') waiter?.reject(new Error(`a run failed: ${frame}`))
    else if (waiter === undefined) done.add(id)
    else waiter.resolve()
  }
  void (async () => {
    let rest = ''
    try {
      for await (const chunk of body) {
        const frames = (rest + String(chunk)).split('\n\n')
        rest = frames.pop() ?? ''
        for (const frame of frames) take(frame)
      }
    } catch (error) {
      if (!stop.signal.aborted) throw error
    }
  })()
  return {
    completed: (id) =>
      new Promise((resolve, reject) => {
        if (done.delete(id)) resolve()
        else waiters.set(id, { resolve, reject })
      }),
    close: () => stop.abort(),
  }
}

/** Each client submits to a session of its own, waits for the run to complete, and submits again. */
export const submitAndComplete = async (
  base: string,
  options: { clients: number; milliseconds: number; most?: number; prefix: string },
): Promise<Sample> => {
  const watch = await watchRuns(base)
  const submits: number[] = []
  const completions: number[] = []
  const begin = performance.now()
  const deadline = begin + options.milliseconds
  let left = options.most ?? Infinity
  const client = async (n: number): Promise<void> => {
    while (performance.now() < deadline && left-- > 0) {
      const start = performance.now()
      const { run_id } = await send(`${base}/v1/sessions/${options.prefix}${n}/runs`, { content: 'hello' })
      submits.push(performance.now() - start)
      await watch.completed(run_id)
      completions.push(performance.now() - start)
    }
  }
  await Promise.all(Array.from({ length: options.clients }, (_, n) => client(n)))
  const seconds = (performance.now() - begin) / 1000
  watch.close()
  return {
    count: completions.length,
    perSecond: completions.length / seconds,
    p50: quantile(completions, 0.5),
    p99: quantile(completions, 0.99),
    submitP50: quantile(submits, 0.5),
    submitP99: quantile(submits, 0.99),
  }
}

/** `clients` read one address over and over. */
export const readLoop = async (
  url: string,
  clients: number,
  milliseconds: number,
): Promise<{ perSecond: number; p50: number; p99: number }> => {
  const times: number[] = []
  const begin = performance.now()
  const deadline = begin + milliseconds
  await Promise.all(
    Array.from({ length: clients }, async () => {
      while (performance.now() < deadline) {
        const start = performance.now()
        await (await request(url)).body.dump()
        times.push(performance.now() - start)
      }
    }),
  )
  return {
    perSecond: times.length / ((performance.now() - begin) / 1000),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  }
}

/**
 * From the submit to the moment when the last of `readers` has seen the run completed, for `runs` runs one after
 * another.
 */
export const fanOut = async (base: string, readers: number, runs: number): Promise<{ p50: number; p99: number }> => {
  const watches = await Promise.all(Array.from({ length: readers }, () => watchRuns(base)))
  const times: number[] = []
  for (let n = 0; n < runs; n += 1) {
    const start = performance.now()
    const { run_id } = await send(`${base}/v1/sessions/fan/runs`, { content: 'hello' })
    await Promise.all(watches.map((watch) => watch.completed(run_id)))
    times.push(performance.now() - start)
  }
  for (const watch of watches) watch.close()
  return { p50: quantile(times, 0.5), p99: quantile(times, 0.99) }
}
