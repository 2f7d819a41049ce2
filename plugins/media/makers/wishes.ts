/** What is wished of makers, what they ask servers, and what comes of it. */
import type { ConnectionOptions, Usage } from '../../execution/models/contract.js'

/** What a server is asked by POST. */
export interface MediaQuestion {
  /** Behind the address of the server, with a slash before it, such as `/images/generations`. */
  readonly path: string
  readonly content_type: string
  readonly body: string | Uint8Array
}
/** What it answered, with a status that is a success. */
export interface MediaReply {
  readonly content_type: string
  readonly body: Uint8Array
}
/** The server of a route, for one call: bounded in bytes and time, ended with the call, never asked twice. */
export interface MediaServer {
  /** The model that is meant. */
  readonly model: string
  /** Rejects with a problem of `makerErrors`: makers let it pass. */
  ask(question: MediaQuestion): Promise<MediaReply>
  /** What stands at an address that the server gave: at the server itself, or at a public one. Rejects as `ask`. */
  fetch(url: string): Promise<Uint8Array>
}

/** A picture to be worked on. */
export interface GivenPicture {
  readonly media_type: string
  readonly bytes: Uint8Array
}
/** What pictures are wished. */
export interface PictureWish {
  readonly prompt: string
  /** `WIDTHxHEIGHT` in pixels, `WIDTH:HEIGHT`, or `auto`. */
  readonly size?: string | undefined
  readonly count: number
  /** The pictures to edit; none to make new ones. */
  readonly pictures: readonly GivenPicture[]
}
/** Formats of sound that may be wished. */
export const soundFormats = ['mp3', 'wav', 'pcm', 'opus', 'aac', 'flac'] as const
/** One of `soundFormats`. */
export type SoundFormat = (typeof soundFormats)[number]
/** What is to be said, and how. */
export interface SpeechWish {
  readonly input: string
  readonly instructions?: string | undefined
  readonly voice?: string | undefined
  readonly format: SoundFormat
  readonly speed?: number | undefined
}
/** Pictures that are wished at once, and files that may come of a wish. */
export const mostMade = 4
/** What came of it: the bytes of files, four of 32 MiB together at most, and what their server says of them. */
export interface Made {
  readonly files: readonly Uint8Array[]
  readonly usage?: Usage | undefined
  /** The prompt as the server took it. */
  readonly revised_prompt?: string | undefined
}

/** Makes pictures and speech for routes of one provider. It must not retry, and must do no I/O but by its server. */
export interface MediaMaker {
  /** Wire name of the provider. */
  readonly provider: string
  /** Where its servers are when nobody says; absent if a route must. */
  readonly base_url?: string
  /** Headers of each question beside the usual ones. */
  headers(options: ConnectionOptions): Readonly<Record<string, string>>
  readonly pictures?: {
    /** Where nobody names another; that of the route when absent. */
    readonly model?: string
    make(wish: PictureWish, server: MediaServer): Promise<Made>
  }
  readonly speech?: {
    readonly model?: string
    make(wish: SpeechWish, server: MediaServer): Promise<Made>
  }
}
