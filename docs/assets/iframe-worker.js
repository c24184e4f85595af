// The search runs in a worker, and browsers start none from a file. Where the site is read without a server, its script runs in a
// hidden frame instead, which looks to both sides like a worker.
if (location.protocol === "file:") {
  const load = (document, url) =>
    new Promise((done, failed) => {
      const script = document.createElement("script");
      script.src = new URL(url, location.href).href;
      script.onload = done;
      script.onerror = failed;
      document.body.append(script);
    });

  // The theme looks for this name to find out where its other scripts are.
  window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.documentElement.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inside.importScripts = async (...urls) => {
        for (const each of urls) await load(this.inside.document, each);
      };
      this.loaded = load(this.inside.document, url);
    }
    postMessage(data) {
      this.loaded.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })));
    }
    terminate() {}
  };
  window.Worker = window.IFrameWorker;
}
