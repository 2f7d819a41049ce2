/** The least that a question to a model can cost here: its bytes sent again, and each event of its answer parsed. */
import { request } from 'undici'
import { readEvents } from './speakers.js'

/** What a model server was asked. */
export interface Question {
  readonly path: string
  readonly body: string
}

/** What the stub was asked since the last time, oldest first. */
export const takeQuestions = async (stub: string): Promise<readonly Question[]> => {
  const { body } = await request(`${stub}/asked`)
  return (await body.json()) as readonly Question[]
}

/** From the question to the end of its answer. */
export const askBare = async (stub: string, { path, body: question }: Question): Promise<void> => {
  const { body } = await request(`${stub}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'identity' },
    body: question,
  })
  await readEvents(body, (data) => {
    if (data !== '[DONE]') JSON.parse(data)
  })
}
