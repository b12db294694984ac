// Runs before the first paint: applies the theme that was chosen here, if any.
document.documentElement.dataset.theme = localStorage.getItem("pawl:theme") ?? "";
