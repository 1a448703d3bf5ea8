&[
    ("/", "text/html; charset=utf-8", include_bytes!("index.html.gz").as_slice()),
    ("/assets/chunk-NK54BNZF.js", "text/javascript; charset=utf-8", include_bytes!("chunk-NK54BNZF.js.gz").as_slice()),
    ("/assets/icon-31EE9ED6.svg", "image/svg+xml", include_bytes!("icon-31EE9ED6.svg.gz").as_slice()),
    ("/assets/list-KCYMBUU6.js", "text/javascript; charset=utf-8", include_bytes!("list-KCYMBUU6.js.gz").as_slice()),
    ("/assets/main-LWDF7GYF.css", "text/css; charset=utf-8", include_bytes!("main-LWDF7GYF.css.gz").as_slice()),
    ("/assets/main-X7KAZJ6Z.js", "text/javascript; charset=utf-8", include_bytes!("main-X7KAZJ6Z.js.gz").as_slice()),
]
