// Lays graphs out away from the page's own thread.
import { type LayoutRequest, layoutGraph } from './layout';

const scope = globalThis as unknown as {
  onmessage: (event: { data: { id: number; request: LayoutRequest } }) => void;
  postMessage(message: unknown): void;
};

scope.onmessage = ({ data: { id, request } }) => {
  try {
    scope.postMessage({ id, layout: layoutGraph(request) });
  } catch (cause) {
    scope.postMessage({ id, error: cause instanceof Error ? cause.message : String(cause) });
  }
};
